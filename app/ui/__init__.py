"""What people see, by NiceGUI: a room for each page, and what pages share."""
