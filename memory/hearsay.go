package memory

import (
	"slices"
	"strings"
)

// HearsayTag is the tag of a candidate that was said by somebody who can't know it. Only Locket
// sets it. Such a candidate is kept, but it ends nothing that was said by somebody who can know it.
const HearsayTag = "hearsay"

// StillTag is the tag of a candidate about something that has been true for a while and is true
// now: "I have lived in Porto since March". Within its group it is ordered by the time at which it
// was said. A claim without the tag that began long before it was said counts as history: "I moved
// to Porto in 2015".
const StillTag = "still"

// Hearsay reports whether a candidate from a speaker's line is about something that this speaker
// can't know: about the wearer or, if the voice has no name, about anybody else. The wearer can
// know everything, and so can everybody about themselves. A speaker with a name can also know an
// event, because plans are made together. A candidate that ends something and names no slot may be
// about the wearer.
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

// subject returns whom a candidate is about, or "" if it doesn't say.
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

// speaks reports whether the wearer said a line. A line without a speaker counts as the wearer's.
func speaks(speaker, wearer string) bool {
	return speaker == "" || wearer != "" && Normal(speaker) == Normal(wearer)
}

// isOf reports whether a subject is somebody, or a person or thing that belongs to them.
func isOf(subject, who string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(subject), strings.ToLower(who))
	return ok && (rest == "" || strings.HasPrefix(rest, "'s ") || strings.HasPrefix(rest, "的"))
}

// Unnamed reports whether a speaker is a voice without a name: S1, S2-a41f, someone.
func Unnamed(speaker string) bool {
	if strings.EqualFold(speaker, Someone) {
		return true
	}
	number, _, _ := strings.Cut(speaker, "-")
	n, ok := strings.CutPrefix(strings.ToUpper(number), "S")
	return ok && n != "" && !strings.ContainsFunc(n, func(r rune) bool { return r < '0' || r > '9' })
}
