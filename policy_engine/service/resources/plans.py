"""What a policy would do to datasets, before anything is done."""

from dataclasses import dataclass

from pydantic import BaseModel

from policy_engine.api.planning import plan_all
from policy_engine.plan.plan import Plan
from policy_engine.policy.owners import issue
from policy_engine.service.identity.actors import Actor
from policy_engine.service.resources.datasets import OwnedDatasets
from policy_engine.service.resources.ownership import OwnedAssets
from policy_engine.service.resources.policies import Policies, policy_of


class PlanRequest(BaseModel):
    """A version of a policy, by default the last one, and datasets by the IRIs it calls them by."""

    policy: str
    version: int | None = None
    datasets: dict[str, str] = {}


class PlansView(BaseModel):
    """The plans of a version of a policy, one for each output."""

    policy: str
    version: int
    plans: list[Plan]


@dataclass(frozen=True)
class Plans:
    """Plans what policies ask for; of data, only the names of columns are read."""

    policies: Policies
    datasets: OwnedDatasets
    ownership: OwnedAssets

    def make(self, actor: Actor, request: PlanRequest) -> PlansView:
        """Return the plans of a policy, bound to datasets.

        Raises ServiceError (N003) for a policy or a dataset that is not there for the caller,
        PolicyError and PlanError for a text that cannot be carried out, DataError for data that do
        not fit it.
        """
        view = self.policies.read(actor, request.policy)
        number = view.versions[-1].number if request.version is None else request.version
        text = self.policies.version(actor, view.id, number).text
        self.datasets.check_names(actor, request.datasets)
        rules = self.ownership.ruling(but=view.id)
        policy = issue(policy_of(text), rules.party_of(view.owner))
        with self.datasets.reading(dict(request.datasets)) as paths:
            data = {iri: str(path) for iri, path in paths.items()}
            plans = plan_all(policy, data, policies=rules.policies, owners=rules.owners)
        return PlansView(
            policy=view.id, version=number, plans=[_without_places(one) for one in plans]
        )


def _without_places(plan: Plan) -> Plan:
    """Return a plan that does not say where files are: nobody needs that who calls from outside."""
    steps = [
        step.model_copy(update={"location": ""}) if hasattr(step, "location") else step
        for step in plan.steps
    ]
    return plan.model_copy(update={"steps": tuple(steps)})
