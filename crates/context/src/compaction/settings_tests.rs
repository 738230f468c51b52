use super::*;

fn written(threshold: f64) -> CompressorSettings {
    CompressorSettings { threshold: Some(threshold), ..Default::default() }
}

fn window(tokens: u64) -> Window {
    Window { tokens: Some(tokens), ..Default::default() }
}

#[test]
fn the_numbers_for_a_window() {
    let default = CompressorSettings::default();
    let model = |model: &str| CompressorSettings { model: model.into(), ..Default::default() };
    let off = CompressorSettings { model_thresholds: false, ..model("openai-codex/gpt-5.5") };
    let output = |tokens, output| Window { output: Some(output), ..window(tokens) };
    let summariser = |tokens, summariser| Window { summariser: Some(summariser), ..window(tokens) };
    for (name, settings, window, want) in [
        ("the user set it", written(0.5), window(200_000), (100_000, 20_000, 10_000, 170_000)),
        ("nobody did", default.clone(), window(200_000), (150_000, 30_000, 10_000, 170_000)),
        ("a large window", default.clone(), window(1_000_000), (500_000, 100_000, 10_000, 850_000)),
        ("just not small", default.clone(), window(512_000), (256_000, 51_200, 10_000, 435_200)),
        ("unknown", default.clone(), Window::default(), (192_000, 38_400, 10_000, 217_600)),
        ("zero is unknown", default.clone(), self::window(0), (192_000, 38_400, 10_000, 217_600)),
        ("room to write", default.clone(), output(200_000, 40_000), (120_000, 24_000, 10_000, 170_000)),
        (
            "written: no reservation",
            written(0.5),
            output(200_000, 40_000),
            (100_000, 20_000, 10_000, 170_000),
        ),
        (
            "a reservation too large",
            default.clone(),
            output(100_000, 200_000),
            (75_000, 15_000, 5_000, 85_000),
        ),
        ("at least 64,000", default.clone(), self::window(80_000), (64_000, 12_800, 4_000, 68_000)),
        ("which may not fit", default.clone(), self::window(64_000), (54_400, 10_880, 3_200, 54_400)),
        ("a small window", default.clone(), self::window(8_192), (6_144, 1_228, 819, 6_963)),
        ("the smallest", default.clone(), self::window(4_096), (3_072, 614, 409, 3_481)),
        ("just small", default.clone(), self::window(63_999), (47_999, 9_599, 6_399, 54_399)),
        ("small, long replies", default.clone(), output(8_192, 4_096), (4_096, 819, 819, 6_963)),
        ("written for a small window", written(0.5), self::window(8_192), (4_096, 819, 819, 6_963)),
        (
            "a small summariser",
            default.clone(),
            summariser(200_000, 100_000),
            (100_000, 20_000, 10_000, 170_000),
        ),
        ("a tiny summariser", default.clone(), summariser(200_000, 8_000), (64_000, 12_800, 10_000, 170_000)),
        (
            "a large summariser",
            default.clone(),
            summariser(200_000, 900_000),
            (150_000, 30_000, 10_000, 170_000),
        ),
        ("codex", model("openai-codex/gpt-5.5"), self::window(272_000), (231_200, 46_240, 10_000, 231_200)),
        ("codex, declined", off, self::window(272_000), (204_000, 40_800, 10_000, 231_200)),
        ("spark", model("gpt-5.3-Codex-Spark"), self::window(128_000), (89_600, 17_920, 6_400, 108_800)),
        (
            "trinity",
            model("arcee-ai/trinity-large-thinking"),
            self::window(600_000),
            (450_000, 90_000, 10_000, 510_000),
        ),
        (
            "another gpt",
            model("openai/gpt-5.5"),
            self::window(1_050_000),
            (525_000, 105_000, 10_000, 892_500),
        ),
        ("nonsense", written(f64::NAN), self::window(200_000), (150_000, 30_000, 10_000, 170_000)),
        ("more than all", written(7.0), self::window(200_000), (200_000, 40_000, 10_000, 170_000)),
    ] {
        let found = limits(&settings, window);
        let found =
            (found.threshold_tokens, found.tail_tokens, found.max_summary_tokens, found.hygiene_tokens);
        assert_eq!(found, want, "{name}");
    }
}

#[test]
fn the_tail_follows_its_settings() {
    for (ratio, last, want) in [
        (0.20, None, (30_000, 8)),
        (0.01, Some(20), (15_000, 20)),
        (2.0, Some(2), (120_000, 2)),
        (f64::NAN, Some(0), (30_000, 1)),
    ] {
        let settings = CompressorSettings { target_ratio: ratio, protect_last_n: last, ..Default::default() };
        let found = limits(&settings, window(200_000));
        assert_eq!((found.tail_tokens, found.tail_messages), want, "{ratio} {last:?}");
    }
}

#[test]
fn a_summary_gets_a_fifth_of_what_it_stands_for() {
    let limits = |tokens| limits(&CompressorSettings::default(), window(tokens));
    for (tokens, compacted, want) in [
        (200_000, 0, 2_000),
        (200_000, 20_000, 4_000),
        (200_000, 1_000_000, 10_000),
        (8_192, 5_000, 819),
        (4_096, 2_000, 409),
        (10, 5_000, 1),
    ] {
        assert_eq!(limits(tokens).summary_budget(compacted), want, "{tokens} {compacted}");
    }
}
