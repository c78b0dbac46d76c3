from app.store.journal.frames import batch_of, frame, scan, table_of


def test_a_line_gives_back_the_changes_it_was_made_of():
    line = frame([("runs", {7: {"cost": 0.1, "text": "naïve\n“quotes”"}, 8: None})])
    found = scan(line, "x")
    assert [batch_of(payload) for payload in found.payloads] == [
        [("runs", {7: {"cost": 0.1, "text": "naïve\n“quotes”"}, 8: None})]
    ]
    assert (found.damaged, found.end) == ([], len(line))


def test_a_batch_over_several_tables_is_one_line():
    line = frame([("a", {1: {"x": 1}}), ("b", None)])
    assert line.count(b"\n") == 1
    assert batch_of(scan(line, "x").payloads[0]) == [("a", {1: {"x": 1}}), ("b", None)]


def test_numbers_that_other_readers_round_stay_as_they_are():
    number = 2**70 + 1
    assert batch_of(scan(frame([("t", {1: {"n": number}})]), "x").payloads[0]) == [("t", {1: {"n": number}})]


def test_the_table_of_a_line_is_known_without_parsing_it():
    assert table_of(frame([("runs", {1: {}})])[9:]) == "runs"
    assert table_of(frame([("läufe", {1: {}})])[9:]) == "läufe"
    assert table_of(frame([('a"b', {1: {}})])[9:]) is None
    assert table_of(frame([("a", None), ("b", None)])[9:]) is None


def test_a_torn_last_line_is_left_out_without_a_word():
    whole, torn = frame([("t", {1: {"x": 1}})]), frame([("t", {2: {"x": 2}})])[:-5]
    found = scan(whole + torn, "x")
    assert (len(found.payloads), found.end, found.damaged, found.unended) == (1, len(whole), [], b"")


def test_a_last_line_that_only_lacks_its_end_counts():
    line = frame([("t", {1: {"x": 1}})])
    for tail in (line[:-1], line[:-1] + b"\x0b"):
        found = scan(tail, "x")
        assert (len(found.payloads), found.end, found.unended) == (1, 0, line)


def test_damage_elsewhere_is_told_with_its_place_and_the_rest_is_read():
    lines = [frame([("t", {number: {"x": number}})]) for number in (1, 2, 3)]
    spoiled = lines[1].replace(b'"x":2', b'"x":9')
    found = scan(lines[0] + spoiled + lines[2], "app.tdb")
    assert [batch_of(payload) for payload in found.payloads] == [[("t", {1: {"x": 1}})], [("t", {3: {"x": 3}})]]
    assert found.damaged == [f"A record of {len(spoiled) - 1} bytes at byte {len(lines[0])} of app.tdb is damaged."]
