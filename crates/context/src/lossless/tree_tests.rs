use super::*;

/// Records what a compaction adds: a leaf for the next ten messages, and parents.
fn add(nodes: &mut Vec<Node>, fan_out: usize) {
    let parents = parents(nodes, fan_out);
    let number = next_number(nodes);
    let end = nodes.iter().map(|node| node.last.0).max().unwrap_or_default();
    nodes.push(Node {
        number,
        level: 0,
        children: vec![],
        first: MessageId(end + 1),
        last: MessageId(end + 10),
        messages: 10,
        text: format!("## Goal\ngoal {number}"),
    });
    for (parent, number) in parents.into_iter().zip(number + 1..) {
        let of: Vec<&Node> = nodes.iter().filter(|node| parent.children.contains(&node.number)).collect();
        let node = Node {
            number,
            level: of.iter().map(|node| node.level).max().unwrap() + 1,
            first: of.iter().map(|node| node.first).min().unwrap(),
            last: of.iter().map(|node| node.last).max().unwrap(),
            messages: of.iter().map(|node| node.messages).sum(),
            children: parent.children,
            text: parent.text,
        };
        nodes.push(node);
    }
}

#[test]
fn the_oldest_get_a_parent_when_too_many_stand_side_by_side() {
    let mut nodes = Vec::new();
    (0..6).for_each(|_| add(&mut nodes, 6));
    assert_eq!(
        parents(&nodes, 6).iter().map(|new| new.children.clone()).collect::<Vec<_>>(),
        [[1, 2, 3, 4, 5, 6]]
    );
    let shown = standing(&nodes, &parents(&nodes, 6));
    assert_eq!(shown.len(), 1, "the parent alone; the leaf is not in it");
    let parent = &shown[0];
    assert_eq!((parent.number, parent.least, parent.level, parent.children), (8, 1, 1, Some((1, 6))));
    assert_eq!((parent.first, parent.last), (MessageId(1), MessageId(60)));
    assert!(parent.gist(400).starts_with("goal: goal 1; goal: goal 2; "), "{}", parent.gist(400));
    add(&mut nodes, 6);
    let expected = standing(&nodes, &[]);
    assert_eq!(expected.iter().map(|node| node.number).collect::<Vec<_>>(), [8, 7]);
    assert_eq!(expected[0], *parent, "what is shown is what is recorded");
}

#[test]
fn what_stands_grows_with_the_logarithm() {
    for fan_out in [2, 6, 10] {
        let mut nodes = Vec::new();
        for count in 1..=1_000_usize {
            add(&mut nodes, fan_out);
            if count > 50 && count % 7 != 0 {
                continue;
            }
            let standing = standing(&nodes, &[]);
            let levels = count.ilog(fan_out) as usize + 1;
            assert!(standing.len() <= fan_out * levels, "{fan_out}, {count}: {}", standing.len());
            // Side by side, without gap and without overlap.
            assert_eq!(standing[0].first, MessageId(1));
            assert_eq!(standing.last().unwrap().last, MessageId(count as i64 * 10));
            assert!(standing.windows(2).all(|pair| pair[0].last.0 + 1 == pair[1].first.0), "{count}");
        }
        assert_eq!(nodes.iter().filter(|node| node.level == 0).count(), 1_000);
    }
}

#[test]
fn leaves_of_another_engine_are_put_in_order_a_level_at_a_time() {
    let mut nodes = Vec::new();
    (0..100).for_each(|_| add(&mut nodes, usize::MAX));
    assert_eq!(standing(&nodes, &[]).len(), 100);
    let mut counts = Vec::new();
    for _ in 0..3 {
        add(&mut nodes, 6);
        counts.push(standing(&nodes, &[]).len());
    }
    assert_eq!(counts, [21, 12, 8]);
    assert!(nodes.iter().all(|node| node.children.iter().all(|child| *child < node.number)));
}
