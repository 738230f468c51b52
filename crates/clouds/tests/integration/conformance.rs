//! The conformance suite of places on both services.

use crate::fixture::Fixture;
use crate::stand_in::StandIn;
use crate::suite::conforms;
use hermes_clouds::Service;

#[tokio::test]
async fn daytona_stand_in_conforms() {
    let server = StandIn::start();
    let fixture = Fixture::new(Service::Daytona, &server);
    conforms(fixture.supervised()).await;
    assert_eq!(server.made(), 1);
}

#[tokio::test]
async fn modal_stand_in_conforms() {
    let server = StandIn::start();
    let fixture = Fixture::new(Service::Modal, &server);
    conforms(fixture.supervised()).await;
    assert_eq!(server.made(), 1);
}
