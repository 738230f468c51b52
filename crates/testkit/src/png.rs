//! PNG files for tests, without a compressor: their size grows with their pixels.

/// A PNG file with a coloured gradient. It has three bytes for each pixel.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let row = |y: u32| {
        let pixel = move |x: u32| [x.to_le_bytes()[0], y.to_le_bytes()[0], (x ^ y).to_le_bytes()[0]];
        // Each row begins with its filter, none.
        std::iter::once(0).chain((0..width).flat_map(pixel))
    };
    with_pixels(width, height, &(0..height).flat_map(row).collect::<Vec<u8>>())
}

/// A small PNG file that claims to have so many pixels.
pub fn png_bomb(width: u32, height: u32) -> Vec<u8> {
    with_pixels(width, height, &[0; 64])
}

fn with_pixels(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", header), (b"IDAT", stored(pixels)), (b"IEND", Vec::new())] {
        let named = [&name[..], &data].concat();
        file.extend_from_slice(&u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
        file.extend_from_slice(&named);
        file.extend_from_slice(&crc(&named).to_be_bytes());
    }
    file
}

/// Data in the zlib format, stored as it is.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut all = vec![0x78, 0x01];
    let blocks = data.len().div_ceil(0xffff);
    for (place, block) in data.chunks(0xffff).enumerate() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        all.push(u8::from(place + 1 == blocks));
        all.extend_from_slice(&length.to_le_bytes());
        all.extend_from_slice(&(!length).to_le_bytes());
        all.extend_from_slice(block);
    }
    let (one, two) = data.iter().fold((1_u32, 0_u32), |(one, two), byte| {
        let one = (one + u32::from(*byte)) % 65_521;
        (one, (two + one) % 65_521)
    });
    all.extend_from_slice(&(two << 16 | one).to_be_bytes());
    all
}

fn crc(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}
