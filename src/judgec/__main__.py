"""``python -m judgec`` does what ``judgec`` does, also where no folder with the command is on the PATH."""

from judgec.verbs.cli.app import main

if __name__ == "__main__":
    main()
