from served import service


def test_services_are_opened_again_with_all_that_was_kept(tmp_path):
    with service(tmp_path) as services:
        first = services.identities.first_person()
    with service(tmp_path) as services:
        assert services.identities.first_person() == first
