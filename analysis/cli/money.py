"""Prices from options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.cli.options import PriceOptions

if TYPE_CHECKING:
    from analysis.prices import Prices


def make_prices(options: PriceOptions) -> Prices:
    """The prices given, those of Yao and Zhou, section 5.2, where none is.

    Raises
    ------
    ValueError
        If a price is out of range or the table of tariffs cannot be read.
    """
    from analysis.economics import CostModel
    from analysis.experiments.pricing import COST, PRICE
    from analysis.prices import Prices, read_tariffs

    return Prices(
        model=CostModel(
            c=COST.c if options.step_cost is None else options.step_cost,
            tau=COST.tau if options.token_cost is None else options.token_cost,
        ),
        per_token=PRICE if options.token_price is None else options.token_price,
        tariffs={} if options.tariffs is None else read_tariffs(options.tariffs),
    )
