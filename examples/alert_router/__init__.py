"""Posts the queries of svddtune to analysts in a chat, with links to click as answers."""
