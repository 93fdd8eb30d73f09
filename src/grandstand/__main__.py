"""The way in for `python -m grandstand` and for the `grandstand` command."""

from grandstand.host.cli import main

if __name__ == "__main__":
    main()
