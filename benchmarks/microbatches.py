"""DP-SGD that clips the mean gradients of parts of a batch, as TensorFlow Privacy used to.

A batch is dealt out to so many microbatches; the mean gradient of each is clipped, their sum is
given noise of z times the clipping norm, and divided by their number. Where a microbatch has ten
records there is ten times the noise, against what a record adds, of clipping each by itself.
"""

from dataclasses import dataclass

import numpy as np

from policy_engine.audits.membership.learners.network import NetworkLearner, Networks
from policy_engine.audits.membership.training.noise import fill_normals
from policy_engine.audits.membership.training.optimizers import BETA_1, BETA_2, EPSILON
from policy_engine.audits.membership.training.parameters import Design, first_parameters

F = np.float32


@dataclass(frozen=True)
class MicrobatchLearner(NetworkLearner):
    """Trains networks of tanh layers on Poisson samples, microbatch by microbatch."""

    microbatches: int = 10

    @property
    def name(self):
        """The description, and that it is trained so."""
        return f"{self.network.model_dump_json()} in {self.microbatches} microbatches"

    def train(self, records, rows, seeds, progress=None):
        """Return a network for each set of rows."""
        design = Design.of(self.network, records.features.shape[1], len(records.classes))
        spent = self._spendings([len(own) for own in rows])
        models = tuple(
            self._trained(design, records, own, seed, spending, progress)
            for own, seed, spending in zip(rows, seeds, spent, strict=True)
        )
        return Networks(design, models, spent)

    def _trained(self, design, records, rows, seed, spending, progress):
        random = np.random.default_rng(seed)
        weights = list(first_parameters(design, random))
        slots = [np.zeros_like(one) for one in weights for _ in range(2)]
        noise = np.empty((1, design.count()), F)
        for step in range(spending.steps):
            batch = rows[random.random(len(rows)) < spending.sampling_rate]
            gradients = self._summed(weights, records, random.permutation(batch), spending)
            fill_normals(random, noise, spending.noise_multiplier * spending.clipping_norm)
            parts = np.split(noise[0], np.cumsum([one.size for one in gradients])[:-1])
            gradients = [
                (one + part.reshape(one.shape)) / F(self.microbatches)
                for one, part in zip(gradients, parts, strict=True)
            ]
            self._update(weights, slots, gradients, step + 1)
            if progress and step % 1000 == 999:
                progress("training", step + 1, spending.steps)
        return tuple(weights)

    def _summed(self, weights, records, batch, spending):
        """Return the sum of the clipped mean gradients of the microbatches.

        The squared norm of a mean over k records is the sum over pairs of them, and over layers,
        of (1 + a.a') (d.d'), over k^2.
        """
        parts = np.array_split(batch, self.microbatches)
        wide = max(map(len, parts))
        shape = (self.microbatches, wide)
        present = np.array([[place < len(part) for place in range(wide)] for part in parts], F)
        rows = np.zeros(shape, np.int64)
        rows[present > 0] = np.concatenate(parts)
        inputs, errors = self._passed(weights, records, rows.ravel())
        means = present / np.maximum(present.sum(axis=1, keepdims=True), 1)
        errors = [one.reshape(*shape, -1) * means[..., None] for one in errors]
        squares = 0
        for a, d in zip(inputs, errors, strict=True):
            own = a.reshape(*shape, -1)
            pairs = (1 + own @ own.swapaxes(1, 2)) * (d @ d.swapaxes(1, 2))
            squares = squares + pairs.sum(axis=(1, 2))
        norm = F(spending.clipping_norm)
        factors = norm / np.maximum(np.sqrt(np.maximum(squares, 0)), norm)
        gradients = []
        for a, d in zip(inputs, errors, strict=True):
            scaled = (d * factors[:, None, None]).reshape(len(a), -1)
            gradients += [a.T @ scaled, scaled.sum(axis=0)]
        return gradients

    def _passed(self, weights, records, rows):
        """Return the inputs of each layer, and the losses' gradients by what it gives."""
        values, inputs, outputs = records.features[rows].astype(F), [], []
        for layer in range(0, len(weights), 2):
            inputs.append(values)
            values = values @ weights[layer] + weights[layer + 1]
            if layer + 2 < len(weights):
                values = np.tanh(values)
            outputs.append(values)
        raised = np.exp(values - values.max(axis=1, keepdims=True))
        error = raised / raised.sum(axis=1, keepdims=True)
        error[np.arange(len(rows)), records.labels[rows]] -= 1
        errors = [error]
        for layer in range(len(weights) - 2, 0, -2):
            back = errors[0] @ weights[layer].T
            errors.insert(0, back * (1 - np.square(outputs[layer // 2 - 1])))
        return inputs, errors

    def _update(self, weights, slots, gradients, taken):
        network = self.network
        rate = F(network.learning_rate)
        if network.optimizer == "adam":
            rate *= F(np.sqrt(1 - BETA_2**taken) / (1 - BETA_1**taken))
        for place, gradient in enumerate(gradients):
            if network.optimizer == "sgd":
                weights[place] -= rate * gradient
                continue
            m, v = slots[2 * place : 2 * place + 2]
            m += (gradient - m) * F(1 - BETA_1)
            v += (np.square(gradient) - v) * F(1 - BETA_2)
            weights[place] -= rate * m / (np.sqrt(v) + F(EPSILON))
