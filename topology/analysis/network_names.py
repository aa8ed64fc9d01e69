"""Which network an element of a fabric of several networks belongs to; of one network there is nothing to say."""

from benchconsole.topology.model.fabric import Fabric, LinkId


class NetworkNames:
    """The networks of the elements of one fabric, by name; none where it has links of one network only."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self.has_several = len(fabric.used_networks) > 1

    def list_names(self, element: str) -> tuple[str, ...]:
        """The networks of a link, or of the links of a device; none for a device that is in all of them."""
        if not self.has_several:
            return ()
        link = self._fabric.links.get(LinkId(element))
        links = (link,) if link is not None else self._fabric.links_at[element]
        names = tuple(dict.fromkeys(each.network for each in links))
        return () if len(names) == len(self._fabric.used_networks) else names
