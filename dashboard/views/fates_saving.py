"""The table of communities as a file."""

from bottomup.dashboard.fates_file import fates_csv
from bottomup.dashboard.fates_now import FatesReader
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.table_saving import SavedTable, TableSaving

__all__ = ["FatesSaving"]


class FatesSaving(TableSaving):
    """A button that asks before it saves, and says what came of it.

    Parameters
    ----------
    session : Session
    reader : FatesReader
    """

    def __init__(self, session: Session, reader: FatesReader) -> None:
        def make() -> SavedTable | None:
            now = reader.read(all_plans=True)
            if now is None:
                return None
            spread, spread_of_clusters = reader.spread()
            return SavedTable(
                now.sample,
                lambda: fates_csv(
                    session.prepared.testimonies,
                    now.by_cluster,
                    now.by_testimony,
                    spread_of_clusters,
                    spread,
                    session.enacted_numbers.preserved,
                    is_judged=now.is_judged,
                ),
            )

        super().__init__(
            session,
            how="table of communities as CSV",
            ending="communities.csv",
            about="All rows, of all plans of this ε, whatever is filtered or picked out, without the plan on "
            "the map.",
            make=make,
        )
