"""Rows judged by a model: what a request holds as an array, and the scores of that array."""

from collections.abc import Iterator, MutableSequence, Sequence
from operator import itemgetter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from svddtune.profile import most_unusual
from svddtune.refined import RefinedDetector
from svddtune.service.convert import MOST_BYTES
from svddtune.service.models import NamedModel
from svddtune.service.upload import LARGEST
from svddtune.service.validate import in_range, invalid_field
from svddtune.state.errors import InvalidInput, TooLarge
from svddtune.v1 import common_pb2, oracle_pb2, result_pb2, scoring_pb2

Array = NDArray[np.float64]

MOST_ROWS = 10_000
MOST_REASONS = 100
# Rows that are judged at a time: the fewer, the larger the model, so that one task stays short.
_BLOCK_ROWS = 1024
_BLOCK_BYTES = 1 << 30
_LEAST_BLOCK_ROWS = 16
# Upper bounds of the bytes that a row and a reason take in a response, but for the reason's name.
_ROW_BYTES, _REASON_BYTES = 40, 44
_SHOWN = 5


class Request(Protocol):
    """What says by what rows are judged: a ScoreRequest or the header of a stream."""

    detector: result_pb2.Detector
    reason_count: int

    @property
    def feature_names(self) -> Sequence[str]:
        """Names of the columns of the rows; empty for the model's order."""
        ...


class Holder(Protocol):
    """A message with rows, as a matrix or one by one."""

    @property
    def matrix(self) -> common_pb2.Matrix:
        """Rows as a matrix."""
        ...

    @property
    def rows(self) -> Sequence[scoring_pb2.Row]:
        """Rows one by one."""
        ...


class Judge:
    """Judges rows by one model and one detector."""

    def __init__(self, model: NamedModel, request: Request) -> None:
        """Check what is asked for.

        Raises InvalidInput (``INVALID_FIELD``, ``REFINED_MISSING``, ``PROFILE_MISSING``,
        ``FEATURE_NAMES_MISMATCH``, ``DUPLICATE_FEATURE_NAME``).
        """
        if request.detector not in result_pb2.Detector.values():
            raise invalid_field("detector", request.detector, "DETECTOR_SVDD or _REFINED")
        in_range("reason_count", request.reason_count, 0, MOST_REASONS)
        fitted = model.fitted
        if request.reason_count and fitted.profile is None:
            raise InvalidInput(
                "PROFILE_MISSING",
                "The model does not say what its dataset was like, so that it gives no reasons. "
                "Ask for none, or export it again from its session.",
            )
        self.name = model.name
        self._fitted = fitted
        self._reason_count = min(request.reason_count, fitted.feature_count)
        self._refined = _refined(fitted.refined, request.detector)
        self._given = tuple(request.feature_names)
        if self._given:
            self._check_names(self._given)
        place = {name: column for column, name in enumerate(self._given)}
        # Where the columns of the model are among those given; None if in the same order.
        self._order = (
            [place[name] for name in fitted.feature_names]
            if self._given and self._given != fitted.feature_names
            else None
        )
        longest = max((len(name.encode()) for name in fitted.feature_names), default=0)
        self._bytes_per_row = _ROW_BYTES + self._reason_count * (_REASON_BYTES + longest)
        # Rows that are judged at a time.
        self.block_rows = min(
            max(_BLOCK_BYTES // (model.size + 1), _LEAST_BLOCK_ROWS),
            max(MOST_BYTES // self._bytes_per_row, 1),
            _BLOCK_ROWS,
        )

    def check_response(self, rows: int) -> None:
        """Raise TooLarge (``SCORES_TOO_LARGE``) if the scores may not fit into one response."""
        most = MOST_BYTES // self._bytes_per_row
        if rows > most:
            raise TooLarge(
                "SCORES_TOO_LARGE",
                f"The scores of {rows} rows with {self._reason_count} reasons each may be above "
                f"{MOST_BYTES >> 20} MiB: send at most {most} rows at once, or use ScoreStream.",
                rows=rows,
                limit=most,
            )

    def blocks(self, rows: Array) -> Iterator[tuple[int, Array]]:
        """Parts of the rows to judge one after the other, each with the number of its first row."""
        for start in range(0, len(rows), self.block_rows):
            yield start, rows[start : start + self.block_rows]

    def read(self, message: Holder, first_row: int = 0) -> Array:
        """The rows of a message with their columns in the model's order; none if it has none.

        ``first_row`` is the number of its first row. Raises InvalidInput (``INVALID_FIELD``,
        ``FEATURE_COUNT_MISMATCH``, ``FEATURE_NAMES_MISMATCH``, ``DATASET_RAGGED``,
        ``DATASET_NOT_FINITE``, ``DATASET_OUT_OF_RANGE``).
        """
        matrix = message.matrix
        if matrix.ByteSize() and message.rows:
            raise invalid_field("rows", f"{len(message.rows)} rows", "none beside a matrix")
        if matrix.ByteSize():
            rows = self._of_matrix(matrix, first_row)
        else:
            rows = self._of_rows(message.rows, first_row)
        self._check_values(rows, first_row)
        return rows

    def judge(self, rows: Array, scores: MutableSequence[scoring_pb2.RowScore]) -> None:
        """Append the scores of rows that ``read`` gave."""
        fitted, refined = self._fitted, self._refined
        represented = fitted.representation.apply(rows)
        distance = fitted.distance2_of_represented(represented) - fitted.threshold
        score, probability = None, None
        if refined is None:
            outside = distance > 0
        else:
            score = refined.score(rows)
            outside = score >= 0.5
            probability = refined.calibrated(score)
        verdicts = np.where(outside, common_pb2.VERDICT_OUTLIER, common_pb2.VERDICT_INLIER)
        scores.extend(
            scoring_pb2.RowScore(verdict=verdict, distance=far)
            for verdict, far in zip(verdicts.tolist(), distance.tolist(), strict=True)
        )
        begun = scores[-len(rows) :]
        if score is not None and probability is not None:
            for one, chance, value in zip(begun, probability.tolist(), score.tolist(), strict=True):
                one.probability, one.refined_score = chance, value
        if self._reason_count:
            for one, reasons in zip(begun, self._reasons(rows), strict=True):
                one.reasons.extend(reasons)

    def _reasons(self, rows: Array) -> Iterator[list[oracle_pb2.UnusualFeature]]:
        profile, names = self._fitted.profile, self._fitted.feature_names
        assert profile is not None
        deviation = profile.deviations(rows)
        columns = most_unusual(deviation, self._reason_count)
        shown = (
            columns,
            np.take_along_axis(rows, columns, axis=1),
            profile.center[columns],
            np.take_along_axis(deviation, columns, axis=1),
        )
        for row in zip(*(array.tolist() for array in shown), strict=True):
            yield [
                oracle_pb2.UnusualFeature(
                    name=names[column] if names else "",
                    column=column,
                    value=value,
                    typical=typical,
                    deviation=away,
                )
                for column, value, typical, away in zip(*row, strict=True)
            ]

    def _of_matrix(self, matrix: common_pb2.Matrix, first_row: int) -> Array:
        _check_count(matrix.rows, "matrix.rows")
        self._check_width(matrix.columns, first_row)
        size = 8 * matrix.rows * matrix.columns
        if len(matrix.values) != size:
            row = first_row + len(matrix.values) // (8 * matrix.columns)
            raise InvalidInput(
                "DATASET_RAGGED",
                f"matrix.values has {len(matrix.values)} bytes, but {matrix.rows} x "
                f"{matrix.columns} values need {size}.",
                row=min(row, first_row + matrix.rows - 1),
                size=len(matrix.values),
                expected=size,
            )
        rows = np.frombuffer(matrix.values, dtype="<f8").reshape(matrix.rows, matrix.columns)
        return rows if self._order is None else rows[:, self._order]

    def _of_rows(self, messages: Sequence[scoring_pb2.Row], first_row: int) -> Array:
        _check_count(len(messages), "len(rows)", least=0)
        rows = np.empty((len(messages), self._fitted.feature_count))
        names = self._fitted.feature_names
        pick = itemgetter(*names) if len(names) > 1 else None
        for index, row in enumerate(messages):
            number = first_row + index
            if not row.by_name:
                self._check_width(len(row.values), number)
                rows[index] = (
                    row.values if self._order is None else np.take(row.values, self._order)
                )
                continue
            if row.values:
                raise invalid_field(
                    f"rows[{index}].values", f"{len(row.values)} values", "none beside by_name"
                )
            values = dict(row.by_name)
            if len(values) != len(names) or any(name not in values for name in names):
                self._check_names(tuple(values), row=number)
            rows[index] = pick(values) if pick else values[names[0]]
        return rows

    def _check_width(self, columns: int, row: int) -> None:
        expected = self._fitted.feature_count
        if columns != expected:
            raise InvalidInput(
                "FEATURE_COUNT_MISMATCH",
                f"Row {row} has {columns} values, but the model was fitted on {expected} columns.",
                row=row,
                columns=columns,
                expected=expected,
            )

    def _check_names(self, given: tuple[str, ...], **place: int) -> None:
        """Raise InvalidInput unless these are the names of the model, in any order."""
        names = self._fitted.feature_names
        whose = "The names of the columns" if not place else f"The names in row {place['row']}"
        if not names:
            raise InvalidInput(
                "FEATURE_NAMES_MISMATCH",
                f"{whose} cannot be matched, because the model was fitted without names: give "
                "values in the order of its columns.",
                **place,
            )
        missing = [name for name in names if name not in set(given)]
        unexpected = [name for name in given if name not in set(names)]
        if missing or unexpected:
            faults = [f"lack {_listed(missing)}"] if missing else []
            faults += [f"have {_listed(unexpected)}, which it lacks"] if unexpected else []
            raise InvalidInput(
                "FEATURE_NAMES_MISMATCH",
                f"{whose} are not those of the model: they {' and '.join(faults)}.",
                missing=_listed(missing),
                unexpected=_listed(unexpected),
                **place,
            )
        if len(given) > len(names):
            twice = next(name for column, name in enumerate(given) if name in given[:column])
            raise InvalidInput(
                "DUPLICATE_FEATURE_NAME",
                f"feature_names has {twice!r} twice.",
                field="feature_names",
                value=twice,
            )

    def _check_values(self, rows: Array, first_row: int) -> None:
        if len(rows) and not np.abs(rows).max() <= LARGEST:
            fits = np.abs(rows) <= LARGEST
            row, column = (int(i) for i in np.argwhere(~fits)[0])
            value, names = float(rows[row, column]), self._fitted.feature_names
            finite = bool(np.isfinite(value))
            raise InvalidInput(
                "DATASET_OUT_OF_RANGE" if finite else "DATASET_NOT_FINITE",
                f"Row {first_row + row} has {value} in column {column}"
                f"{f' ({names[column]!r})' if names else ''}; "
                f"{f'magnitudes up to {LARGEST:g}' if finite else 'finite numbers'} are allowed.",
                row=first_row + row,
                column=column,
                value=value,
                **({"feature": names[column]} if names else {}),
            )


def _refined(refined: RefinedDetector | None, detector: int) -> RefinedDetector | None:
    """The refined detector where it is asked for."""
    if detector != result_pb2.DETECTOR_REFINED:
        return None
    if refined is None:
        raise InvalidInput(
            "REFINED_MISSING",
            "The model has no refined detector: that takes labels of both classes and a strategy "
            "with an atlas. Use DETECTOR_SVDD.",
        )
    return refined


def _check_count(rows: int, field: str, *, least: int = 1) -> None:
    in_range(field, rows, least, MOST_ROWS)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
