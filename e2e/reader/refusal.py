"""Why something was refused: in one of the words of the vectors' READMEs."""


class Refused(Exception):
    def __init__(self, reason, why):
        super().__init__(f"{reason}: {why}")
        self.reason = reason


class Late(Refused):
    """A delta of who was removed before, for good: it is passed over, and what follows it is read."""


def require(holds, reason, why):
    if not holds:
        raise Refused(reason, why)
