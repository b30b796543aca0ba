from contextlib import closing

from served import person, service

from policy_engine.service.asking.query_processes import QueryProcesses
from policy_engine.service.services import Services
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.datasets import StoredDataset


def test_services_are_opened_again_with_all_that_was_kept(tmp_path):
    with service(tmp_path) as services:
        first = services.identities.first_person()
    with service(tmp_path) as services:
        assert services.identities.first_person() == first


def test_a_process_for_queries_is_prepared_once_there_is_something_to_query(tmp_path, monkeypatch):
    prepared = []

    def note(processes):
        prepared.append(processes)

    monkeypatch.setattr(QueryProcesses, "prepare", note)
    with closing(Services.open(ServiceSettings(folder=tmp_path), asks_processes=True)):
        assert prepared == []
    with service(tmp_path) as services:
        owner = person(services, "owner")
        with services.database.writing() as session:
            named = {"name": "visits", "iri": "http://a.example/V", "owner_id": owner}
            session.add(StoredDataset(**named, file="ab.csv", columns=[]))
    with closing(Services.open(ServiceSettings(folder=tmp_path), asks_processes=True)) as services:
        assert prepared == [services.queries.processes]
