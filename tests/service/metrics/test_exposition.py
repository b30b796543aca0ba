from policy_engine.service.metrics.call_meter import Durations
from policy_engine.service.metrics.exposition import Metric, exposition


def test_figures_are_written_as_prometheus_reads_them():
    metrics = [
        Metric.gauge("a_bytes", "Room.", 12.0),
        Metric.by("b_total", "counter", "Calls.", ("of",), {("x",): 2, ('"\\\n',): 1}),
    ]
    assert exposition(metrics) == (
        "# HELP a_bytes Room.\n# TYPE a_bytes gauge\na_bytes 12\n"
        "# HELP b_total Calls.\n# TYPE b_total counter\n"
        'b_total{of="\\"\\\\\\n"} 1\nb_total{of="x"} 2\n'
    )


def test_a_histogram_counts_up_to_each_bound():
    durations = Durations()
    for seconds in (0.02, 0.3, 99.0):
        durations.add(seconds, "GET")
    lines = exposition([Metric.histogram("s", "Time.", ("method",), durations.totals())])
    assert 's_bucket{method="GET",le="0.01"} 0\n' in lines
    assert 's_bucket{method="GET",le="0.025"} 1\n' in lines
    assert 's_bucket{method="GET",le="30"} 2\n' in lines
    assert 's_bucket{method="GET",le="+Inf"} 3\n' in lines
    assert 's_sum{method="GET"} 99.32\n' in lines
    assert 's_count{method="GET"} 3\n' in lines
