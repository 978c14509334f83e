"""What a block says of the real TensorFlow: tensors that are kept, and the first call of a clean function."""

import collections

import pytest

import tfmemwatch

MB = (250000,)  # floats


class Server:
    def __init__(self):
        self.history = []
        self.variables = []


server = Server()


@pytest.fixture
def begun():
    """A watch of this process that may take evidence."""
    server.__init__()
    yield tfmemwatch.install(sample_seconds=3600, log=False)
    tfmemwatch.uninstall()


def leaks_of(block):
    with pytest.raises(tfmemwatch.LeakFound) as found:
        block.assert_clean()
    return str(found.value).splitlines()[1:]


def test_ten_tensors_kept_in_ten_steps(tf, begun):
    """How many, how large, by which line, in which collection."""
    with tfmemwatch.watch("ten requests") as block:
        for _ in range(10):
            server.history.append(tf.ones(MB))
            block.step()
    (leak,) = leaks_of(block)
    assert "10 tensors (9.54 MiB)" in leak and "Server.history" in leak and "test_blocks.py" in leak


def test_the_numbers_of_them_are_clean(tf, begun):
    """The cure: what is needed of each."""
    with tfmemwatch.watch("ten requests") as block:
        for _ in range(10):
            server.history.append(float(tf.reduce_sum(tf.ones(MB))))
            block.step()
    block.assert_clean()


def test_kept_arrays(tf, begun):
    """As for tensors."""
    with tfmemwatch.watch("ten requests") as block:
        for _ in range(10):
            server.history.append(tf.ones(MB).numpy() + 1)
    (leak,) = leaks_of(block)
    assert "10 arrays (9.54 MiB)" in leak and "Server.history" in leak


class Model:
    """Makes its variable and its trace in the first call."""

    def __init__(self, tf):
        self._tf = tf
        self._weights = None
        self.train = tf.function(self._train)

    def _train(self, x):
        if self._weights is None:
            self._weights = self._tf.Variable(self._tf.ones((10, 1)))
        return self._tf.reduce_sum(self._tf.matmul(x, self._weights))


def test_the_first_call_of_a_clean_function_is_its_warm_up(tf, begun):
    """Its trace, and its variables; without a warm-up they are left behind."""
    for warmup in (1, 0):
        model = Model(tf)
        with tfmemwatch.watch("training", warmup=warmup) as block:
            for _ in range(10):
                loss = model.train(tf.ones((4, 10)))
                block.step()
        assert float(loss) == 40
        if warmup:
            block.assert_clean()
        else:
            assert "variables=1" in " ".join(leaks_of(block))


def test_kept_variables_are_variables(tf, begun):
    """Their handles are tensors to Python, and nobody else's."""
    with tfmemwatch.watch("ten requests") as block:
        for _ in range(10):
            server.variables.append(tf.Variable(1.0))
    block.assert_clean(variables=10)


def test_a_decorated_function_leaks_over_its_calls(tf, begun):
    """All calls are one block."""

    @tfmemwatch.watch(warmup=1)
    def handle():
        server.history.append(tf.ones((4,)))

    for _ in range(12):
        handle()
    assert "11 tensors" in " ".join(leaks_of(handle))


def test_a_decorated_function_can_be_traced(tf, begun, caplog):
    """AutoGraph takes what is the program's, and leaves us alone."""

    @tf.function
    @tfmemwatch.watch
    def sign(x):
        if tf.reduce_sum(x) > 0:
            return x + 1
        return x - 1

    assert sign(tf.ones(3)).numpy().tolist() == [2, 2, 2]
    assert sign(-tf.ones(3)).numpy().tolist() == [-2, -2, -2]
    assert "AutoGraph" not in caplog.text


class LastUsers:
    """A variable for each of the last users."""

    def __init__(self, most):
        self.most = most
        self.vectors = collections.OrderedDict()

    def vector(self, tf, user):
        self.vectors[user] = tf.Variable(tf.zeros([8]))
        if len(self.vectors) > self.most:
            self.vectors.popitem(last=False)


@pytest.mark.parametrize("most, is_clean", [(10, True), (1000, True), (None, False)])
def test_what_a_cache_with_a_bound_holds_is_not_left_behind(tf, most, is_clean):
    """Whether it is full or not; without a bound each is. While it fills the report does not say that nothing leaks."""
    cache, kept = LastUsers(most or 1000), []
    with tfmemwatch.watch("users", log=False, warmup=1) as block:
        for user in range(60):
            cache.vector(tf, user) if most else kept.append(tf.Variable(tf.zeros([8])))
            block.step()
        so_far = str(block.report()).splitlines()[0]
    assert so_far.startswith({10: "CLEAN", 1000: "GROWING, too early to tell", None: "LEAK"}[most]), so_far
    assert bool(block.findings) != is_clean
    if is_clean:
        block.assert_clean()
    else:
        with pytest.raises(tfmemwatch.LeakFound, match="59 variables left behind"):
            block.assert_clean()
