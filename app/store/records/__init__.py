"""The tables with a record for each agent, session, server, tool and so on."""
