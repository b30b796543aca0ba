from policy_engine.data.keys import read_chain_key
from policy_engine.service.files.keys import key_file


def test_a_key_is_made_once_for_its_owner_alone(tmp_path):
    path = key_file(tmp_path, "decisions")
    key = read_chain_key(path)
    assert read_chain_key(key_file(tmp_path, "decisions")) == key
    assert read_chain_key(key_file(tmp_path, "outputs")) != key
    assert path.stat().st_mode & 0o777 == 0o600
    assert {one.name for one in path.parent.iterdir()} == {"decisions.key", "outputs.key"}
