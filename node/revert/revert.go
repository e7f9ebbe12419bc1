// Package revert chooses which claims about a memory are taken back, and which are
// made again if that was a mistake.
//
// The words: a claim is an assertion of the lowest rank that a worker or an app made,
// or this device in its name, and that was not withdrawn; when a single memory is
// undone, it is anything that a machine said about it. When the claims about a memory
// are taken back, what devices and people say about it stays.
//
// Everything is a pure function of a memory's assertions.
package revert

import (
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Criteria choose claims. All that are set must match.
type Criteria struct {
	Since, Until time.Time // by the clock of the speaker; zero: no limit. Until itself is not included
	Engine       string    // the model that is named as the source; empty: any
	Work         string    // the kind of work: "read" for the plugin "worker/read"; empty: any
	App          string    // only what this app wrote; empty: only what workers said
	// Memory, instead of all others, chooses what any machine said about this memory.
	Memory memory.ID
	// Workers are the members that are workers, whatever source their statements name.
	Workers map[memory.MemberID]bool
}

// app returns the name of the app that said a, or "" if a worker did.
func (c *Criteria) app(a *memory.Assertion) string {
	if a.Source.ByWorker() || c.Workers[a.Dot.Member] {
		return ""
	}
	return a.Source.App()
}

// Claims returns the claims that the criteria choose.
func Claims(as []memory.Assertion, c Criteria) (out []memory.Assertion) {
	gone := withdrawn(as)
	for _, a := range as {
		at := a.Clock.Time()
		switch {
		case a.Rank == memory.RankPerson || a.Act == memory.ActWithdraw || gone[a.Dot]:
		case !c.Memory.IsZero():
			out = append(out, a)
		case a.Rank != memory.RankCloud:
		case !c.Since.IsZero() && at.Before(c.Since), !c.Until.IsZero() && !at.Before(c.Until):
		case c.app(&a) != c.App:
		case c.Engine != "" && a.Source.Model != c.Engine:
		case c.Work != "" && a.Source.Plugin != memory.WorkerPlugin+c.Work:
		default:
			out = append(out, a)
		}
	}
	return out
}

// MatchesLine reports whether a line was said by a worker, or by the app of the criteria, and
// the other criteria match. If the worker does not say when it heard the line, the
// time is that of the recording.
func MatchesLine(u *memory.Utterance, c Criteria) bool {
	at := u.Received
	if at.IsZero() {
		at = u.At
	}
	switch {
	case c.App != "" && (u.Source.App() != c.App || u.Source.ByWorker()), c.App == "" && !u.Source.ByWorker():
	case !c.Since.IsZero() && at.Before(c.Since), !c.Until.IsZero() && !at.Before(c.Until):
	case c.Engine != "" && u.Source.Model != c.Engine:
	case c.Work != "" && u.Source.Plugin != memory.WorkerPlugin+c.Work:
	default:
		return true
	}
	return false
}

func withdrawn(as []memory.Assertion) map[memory.Dot]bool {
	gone := map[memory.Dot]bool{}
	for _, a := range as {
		if a.Act == memory.ActWithdraw {
			for _, d := range a.Seen {
				gone[d] = true
			}
		}
	}
	return gone
}

// StayReason returns why a memory stays when these claims are taken back. It is empty if
// the memory does not stay.
func StayReason(as, claims []memory.Assertion) string {
	goes := withdrawn(as)
	for _, a := range claims {
		goes[a.Dot] = true
	}
	why := ""
	for _, a := range as {
		switch {
		case a.Act == memory.ActWithdraw:
		case a.Rank == memory.RankPerson:
			return "you have said something about it yourself"
		case a.Act == memory.ActPropose && !goes[a.Dot] && a.Rank == memory.RankDevice:
			why = "a device says so, too"
		case a.Act == memory.ActPropose && !goes[a.Dot]:
			why = "a worker or an app said so at another time, too"
		}
	}
	return why
}

// MaxID is the maximum length of a revert's id, in bytes.
const MaxID = 40

// IsID reports whether s may be such an id: of a-z and 0-9.
func IsID(s string) bool {
	return s != "" && len(s) <= MaxID && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// IsOfRevert reports whether a withdrawal belongs to a revert.
func IsOfRevert(a *memory.Assertion, id string) bool {
	return a.Act == memory.ActWithdraw && a.Rank == memory.RankPerson && strings.HasSuffix(a.Reason, takenBack(id))
}

// Reason returns the reason in a revert's withdrawals.
func (c *Criteria) Reason(id string) string {
	if !c.Memory.IsZero() {
		return "what was heard" + takenBack(id)
	}
	if c.App != "" {
		return "what app " + c.App + " wrote" + takenBack(id)
	}
	return "what a worker said" + takenBack(id)
}

func takenBack(id string) string { return " was taken back (" + id + ")" }

// RestoreReason returns the reason of a claim that is made again.
func RestoreReason(id string) string { return "it was not taken back after all (" + id + ")" }

// ClaimsToRestore returns the claims that a revert has withdrawn and that have to be made again,
// without those that were already.
func ClaimsToRestore(as []memory.Assertion, id string) (out []memory.Assertion) {
	var dots []memory.Dot
	for _, a := range as {
		switch {
		case a.Act == memory.ActErase, strings.HasSuffix(a.Reason, RestoreReason(id)):
			return nil
		case IsOfRevert(&a, id):
			dots = append(dots, a.Seen...)
		}
	}
	for _, a := range as {
		if slices.Contains(dots, a.Dot) && a.Rank < memory.RankPerson {
			out = append(out, a)
		}
	}
	return out
}
