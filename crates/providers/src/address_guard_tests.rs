use super::*;

fn guard(reach: Reach) -> AddressGuard {
    AddressGuard::new(reach, "allow it")
}

/// URL, refused for the public internet, refused with private addresses.
const CASES: &[(&str, bool, bool)] = &[
    ("https://8.8.8.8/", false, false),
    ("https://example.com/", false, false),
    ("https://[2606:4700::1111]/", false, false),
    // Notations of this machine.
    ("http://127.0.0.1/", true, false),
    ("http://127.1/", true, false),
    ("http://0/", true, false),
    ("http://0.0.0.0:8080/", true, false),
    ("http://2130706433/", true, false),
    ("http://0x7f000001/", true, false),
    ("http://0x7f.1/", true, false),
    ("http://0177.0.0.1/", true, false),
    ("http://0177.0.1/", true, false),
    ("http://017700000001/", true, false),
    ("http://127.0.0.1./", true, false),
    ("http://%31%32%37.0.0.1/", true, false),
    ("http://１２７.0.0.1/", true, false),
    ("http://①②⑦.0.0.1/", true, false),
    ("http://127。0。0。1/", true, false),
    ("http://[::1]/", true, false),
    ("http://[::]/", true, false),
    ("http://[0:0:0:0:0:0:0:1]/", true, false),
    ("http://[::ffff:127.0.0.1]/", true, false),
    ("http://[::ffff:7f00:1]/", true, false),
    ("http://[::127.0.0.1]/", true, false),
    ("http://[64:ff9b::7f00:1]/", true, false),
    ("http://[2002:7f00:1::]/", true, false),
    ("http://localhost/", true, false),
    ("http://LOCALHOST./", true, false),
    ("http://a.localhost/", true, false),
    ("http://ⓛⓞcalhost/", true, false),
    // Private networks.
    ("http://10.0.0.1/", true, false),
    ("http://10.1/", true, false),
    ("http://167772161/", true, false),
    ("http://172.16.3.4/", true, false),
    ("http://192.168.0.1/", true, false),
    ("http://0xc0a80001/", true, false),
    ("http://100.64.1.1/", true, false),
    ("http://198.18.0.1/", true, false),
    ("http://192.0.2.1/", true, false),
    ("http://224.0.0.1/", true, false),
    ("http://255.255.255.255/", true, false),
    ("http://[fc00::1]/", true, false),
    ("http://[fd12:3456::1]/", true, false),
    ("http://[fe80::1]/", true, false),
    ("http://[ff02::1]/", true, false),
    ("http://[2001:db8::1]/", true, false),
    ("http://[::ffff:10.0.0.1]/", true, false),
    // Metadata, refused in any case.
    ("http://169.254.169.254/latest/meta-data/", true, true),
    ("http://169.254.170.2/v2/credentials", true, true),
    ("http://169.254.0.23/", true, true),
    ("http://2852039166/", true, true),
    ("http://0xa9fea9fe/", true, true),
    ("http://0xa9.0xfe.0xa9.0xfe/", true, true),
    ("http://0251.0376.0251.0376/", true, true),
    ("http://169.16689662/", true, true),
    ("http://[::ffff:169.254.169.254]/", true, true),
    ("http://[::ffff:a9fe:a9fe]/", true, true),
    ("http://[::169.254.169.254]/", true, true),
    ("http://[64:ff9b::a9fe:a9fe]/", true, true),
    ("http://[64:ff9b:1::a9fe:a9fe]/", true, true),
    ("http://[2002:a9fe:a9fe::1]/", true, true),
    ("http://[fd00:ec2::254]/", true, true),
    ("http://[fd20:ce::254]/", true, true),
    ("http://100.100.100.200/", true, true),
    ("http://192.0.0.192/", true, true),
    ("http://168.63.129.16/", true, true),
    ("http://metadata.google.internal/computeMetadata/v1/", true, true),
    ("http://METADATA.GOOGLE.INTERNAL./", true, true),
    ("http://x.metadata.google.internal/", true, true),
    ("http://metadata/", true, true),
    ("http://metadata.goog/", true, true),
    ("http://instance-data.ec2.internal/", true, true),
    ("http://notmetadata.google.internal.example/", false, false),
];

#[test]
fn guard_refuses_private_and_metadata_addresses() {
    for &(text, public, private) in CASES {
        let url: Url = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(guard(Reach::Public).judge_url(&url).is_err(), public, "{text}");
        assert_eq!(guard(Reach::Private).judge_url(&url).is_err(), private, "{text} with private addresses");
    }
    assert!(CASES.iter().filter(|case| case.1).count() >= 60);
}

#[test]
fn refusal_says_what_permits_it() {
    let url = "http://127.1/".parse().unwrap();
    let why = guard(Reach::Public).judge_url(&url).unwrap_err();
    assert_eq!(why, "127.0.0.1 is at the private address 127.0.0.1; allow it");
}

struct Fixed(Vec<&'static str>);

impl Names for Fixed {
    fn addresses<'a>(&'a self, _: &'a str) -> BoxFuture<'a, std::io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(self.0.iter().map(|text| text.parse().unwrap()).collect()) })
    }
}

#[tokio::test]
async fn only_passing_addresses_of_a_name_are_used() {
    for (reach, found, want) in [
        (Reach::Public, vec!["8.8.8.8", "10.0.0.1"], Some(vec!["8.8.8.8:0"])),
        (Reach::Public, vec!["10.0.0.1", "::1"], None),
        (Reach::Private, vec!["10.0.0.1", "169.254.169.254"], Some(vec!["10.0.0.1:0"])),
        (Reach::Private, vec!["::ffff:169.254.169.254"], None),
    ] {
        let guard = guard(reach).with_names(Arc::new(Fixed(found.clone())));
        let passing = guard.passing("x.example").await;
        let passing = passing.map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(passing.ok(), want.map(|all| all.into_iter().map(str::to_owned).collect()), "{found:?}");
    }
}

#[tokio::test]
async fn host_of_the_proxy_is_exempt_and_no_other() {
    let guard = guard(Reach::Public).with_names(Arc::new(Fixed(vec!["10.0.0.1"])));
    let guard = guard.exempting("http://proxy.example:3128");
    assert!(guard.passing("proxy.example").await.is_ok());
    assert!(guard.passing("other.example").await.is_err());
}
