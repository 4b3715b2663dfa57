"""Drawing the map of a site: as a picture, as text, as data. What stands on it is `fleet.map`'s."""
