//! Downloads from an address of the user: limited in size and time, with checked redirects.

use crate::Fetcher;
use crate::address::origin;
use crate::{AddressGuard, Reach};
use hermes_wire::Failure;
use url::Url;

/// The number of redirects; file hosts need one or two.
const MOST_REDIRECTS: usize = 5;

/// Downloads a file. No credential is sent. An https address never redirects to plain http, which is used for this
/// machine only. Addresses are checked on connecting.
pub async fn download(fetcher: &Fetcher, url: Url, most: usize, reach: Reach) -> Result<Vec<u8>, Failure> {
    let mut url = url;
    let guard = AddressGuard::new(reach, "use --allow-private if you mean it");
    let clients = match reach {
        Reach::Public => fetcher.clients.guarded(&guard),
        Reach::Private => fetcher.clients.clone(),
    };
    for _ in 0..=MOST_REDIRECTS {
        if url.scheme() != "https" && !crate::is_loopback(&url) {
            return Err(refused(&url, "plain http is not allowed; use https".to_owned()));
        }
        if reach == Reach::Public {
            guard.judge_number(&url).map_err(|why| refused(&url, why))?;
        }
        let request = clients.of(&url)?.get(url.clone());
        let answer = fetcher.any_answer(request, origin(&url), most).await?;
        if answer.status.is_success() {
            return Ok(answer.bytes);
        }
        let next = answer.headers.get("location").and_then(|place| place.to_str().ok());
        let next = next.filter(|_| answer.status.is_redirection()).and_then(|place| url.join(place).ok());
        let Some(next) = next else {
            return Err(Failure::Http {
                status: answer.status.as_u16(),
                retry_after: None,
                body: String::new(),
            });
        };
        let is_weaker = url.scheme() == "https" && next.scheme() != "https";
        let goes_inside = crate::is_loopback(&next) && !crate::is_loopback(&url);
        if is_weaker || goes_inside {
            return Err(refused(&url, format!("it redirects to {}, which is not followed", origin(&next))));
        }
        url = next;
    }
    Err(refused(&url, "too many redirects".to_owned()))
}

fn refused(url: &Url, cause: String) -> Failure {
    Failure::Unreachable { origin: origin(url), cause }
}
