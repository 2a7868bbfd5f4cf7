"""The rows, a file for each call or family of calls. Every module here is part of the table."""
