"""Where the supervisor finds the files of datasets and models."""

from pathlib import Path

from policy_engine.service.files.folder import FileFolder
from policy_engine.service.resources.datasets import OwnedDatasets
from policy_engine.service.resources.models import OwnedModels
from policy_engine.service.resources.uploads import Uploads
from policy_engine.service.runs.preparing import PathOf
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.database import Database


def dataset_paths(settings: ServiceSettings, database: Database) -> PathOf:
    """Return the function that finds the file of a dataset or a model, by its identifier.

    It raises ServiceError (N004) for one that has no file, or is gone.
    """
    files = FileFolder(settings.folder, settings.storage)
    uploads = Uploads(database, files, settings.largest_upload)
    datasets, models = OwnedDatasets(uploads), OwnedModels(uploads)

    def path_of(one: str) -> Path:
        return models.owned.path(one) or datasets.path(one)

    return path_of
