"""Where the supervisor finds the files of datasets."""

from pathlib import Path

from policy_engine.service.files.folder import FileFolder
from policy_engine.service.resources.datasets import OwnedDatasets
from policy_engine.service.runs.preparing import PathOf
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.database import Database


def dataset_paths(settings: ServiceSettings, database: Database) -> PathOf:
    """Return the function that finds the file of a dataset, by its identifier.

    It raises ServiceError (N004) for a dataset that has no file, or is gone.
    """
    datasets = OwnedDatasets(database, FileFolder(settings.folder), settings.largest_upload)

    def path_of(dataset_id: str) -> Path:
        return datasets.paths({dataset_id: dataset_id})[dataset_id]

    return path_of
