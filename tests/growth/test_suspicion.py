"""A rise of memory in use is suspected from look to look; what is left of it without garbage decides."""

from tfmemwatch.growth.suspicion import Suspicion

WORTH = 1000.0  # bytes a look that are worth a finding
KB = 1024.0


def look_until_it_rises(suspicion, in_use, looks=200):
    """Take looks at this function of their number; the look at which a rise was seen, if one was."""
    return next((look for look in range(looks) if suspicion.rises(in_use(look))), None)


def test_garbage_that_waits_for_the_collector_is_no_rise():
    """It rises from look to look by 5 kB, and all of that is gone after a collection."""
    suspicion = Suspicion()
    look = look_until_it_rises(suspicion, lambda look: 5 * KB * look)
    assert not suspicion.is_confirmed(0.0, look, WORTH)


def test_what_a_collection_leaves_is_a_rise():
    """It rises by 5 kB a look, and a collection finds nothing."""
    suspicion = Suspicion()
    look = look_until_it_rises(suspicion, lambda look: 5 * KB * look)
    assert suspicion.is_confirmed(5 * KB * look, look, WORTH)


def test_a_leak_beside_much_garbage_is_confirmed_the_second_time():
    """It began on top of 1 MB of garbage: what is left without it is less than before, and later more than was left."""
    suspicion = Suspicion()
    first = look_until_it_rises(suspicion, lambda look: 1000 * KB + 4 * KB * look)
    assert not suspicion.is_confirmed(2 * KB * first, first, WORTH)
    suspicion.forget()
    both = first + look_until_it_rises(suspicion, lambda look: 500 * KB + 4 * KB * look)
    assert suspicion.is_confirmed(2 * KB * both, both, WORTH)


def test_what_rises_slower_than_is_worth_a_finding_is_not_looked_into_again():
    """In the 400 looks since it was asked last it has risen by 80 kB: more than noise, and 0.2 kB a look."""
    suspicion = Suspicion()
    look = look_until_it_rises(suspicion, lambda look: 5 * KB * look)
    suspicion.is_confirmed(0.0, look, WORTH)
    assert not suspicion.is_confirmed(80 * KB, look + 400, WORTH)
    assert suspicion.is_confirmed(80 * KB + 80 * KB, look + 500, WORTH)
