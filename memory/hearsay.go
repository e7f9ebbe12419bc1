package memory

import (
	"slices"
	"strings"
)

// HearsayTag is the tag of a candidate that somebody said who can't know it. Only Locket
// sets it. Such a candidate is kept, and ends nothing that was said by who can know.
const HearsayTag = "hearsay"

// StillTag is the tag of a candidate that says what is so now and has been for a while: "I have
// lived in Porto since March". Among the candidates of its group it stands at the time at which
// it was said. A claim without the tag that began long before it was said counts as history: "I
// moved to Porto in 2015".
const StillTag = "still"

// Hearsay reports whether a candidate that a speaker's line gave is about something that
// this speaker can't know: something of the wearer, or, if the voice has no name, of anybody
// else. The wearer can know everything, and so can everybody about themselves. An event
// is also known to who has a name, because plans are made together. What ends something
// and names no slot may be about the wearer.
func Hearsay(c *Candidate, speaker, wearer string) bool {
	subject := c.subject()
	switch {
	case c.Slot == nil && !c.Negates, speaks(speaker, wearer), isOf(subject, speaker):
		return false
	case Unnamed(speaker):
		return true
	case c.Type == Episodic:
		return false
	}
	return c.Slot == nil || isOf(subject, "user") || wearer != "" && isOf(subject, wearer)
}

// subject is whom a candidate is about; "": it doesn't say.
func (c *Candidate) subject() string {
	switch {
	case c.Slot != nil:
		return c.Slot.Subject
	case c.Fields.Semantic != nil:
		return c.Fields.Semantic.Subject
	}
	return ""
}

// IsHearsay reports whether a candidate has the tag.
func (c *Candidate) IsHearsay() bool { return slices.Contains(c.Tags, HearsayTag) }

// speaks reports whether a line is the wearer's. A line without a speaker is.
func speaks(speaker, wearer string) bool {
	return speaker == "" || wearer != "" && Normal(speaker) == Normal(wearer)
}

// isOf reports whether a subject is somebody, or somebody or something of theirs.
func isOf(subject, who string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(subject), strings.ToLower(who))
	return ok && (rest == "" || strings.HasPrefix(rest, "'s ") || strings.HasPrefix(rest, "的"))
}

// Unnamed reports whether a speaker is a voice that nobody has named: S1, S2-a41f, someone.
func Unnamed(speaker string) bool {
	if strings.EqualFold(speaker, Someone) {
		return true
	}
	number, _, _ := strings.Cut(speaker, "-")
	n, ok := strings.CutPrefix(strings.ToUpper(number), "S")
	return ok && n != "" && !strings.ContainsFunc(n, func(r rune) bool { return r < '0' || r > '9' })
}
