"""What every record shares."""

from fleet.record import short


def test_a_digest_is_cut_where_it_is_one() -> None:
    assert short(f"found sha256:{'ab' * 32} 0600") == "found sha256:abababababab… 0600"
    assert short("found sha256:abc") == "found sha256:abc"
