//! Running one turn: the turn machine, recovery, the driver.
