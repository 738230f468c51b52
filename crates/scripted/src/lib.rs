//! A model that answers from a script over real HTTP on loopback; the demo and the tests share it.
