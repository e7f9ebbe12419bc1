package serve

import (
	"time"

	"github.com/locket-dev/locket/memory"
)

// Where says where a memory is, as far as this device knows.
type Where struct {
	Cold    bool        `json:"cold"`            // this device has only a stub of it; the rest is in a pack at the primary relay
	Waits   int         `json:"waits"`           // number of this device's assertions about it that are not sent yet
	Media   string      `json:"media,omitempty"` // where its photo or recording is: here, held (only on this device, because a secret was said near it) or away (at a relay or on another device); absent: it has none
	Members []MemberHas `json:"members"`         // the wearer's devices, this one first
	Relays  []RelayHas  `json:"relays"`          // the primary relay first, then mirrors
}

// Values of Where.Media.
const (
	MediaHere = "here" // on this device
	MediaHeld = "held" // only on this device, which does not send it: a secret was said near it
	MediaAway = "away" // at a relay or on another device
)

// Holds says how much of a memory a member or a relay has.
type Holds string

// Values of Holds.
const (
	HoldsAll     Holds = "all"     // it has the memory
	HoldsStub    Holds = "stub"    // this device has a stub, because the memory is cold here
	HoldsOffered Holds = "offered" // a relay was sent everything; only the relay knows whether it stored it
	HoldsPart    Holds = "part"    // something about the memory, or its photo or recording, is here and was not sent there
	HoldsUnknown Holds = "unknown" // something waits to be sent that may be about the memory; or the relay fails; or another device was to send its photo or recording
)

// MemberHas is a member of the wearer's space.
type MemberHas struct {
	ID        memory.MemberID `json:"id"`
	Role      string          `json:"role,omitempty"`
	Name      string          `json:"name,omitempty"`
	Platform  string          `json:"platform,omitempty"`
	Here      bool            `json:"here,omitempty"`
	LastHeard time.Time       `json:"last_heard,omitzero"` // as in Member
	Said      bool            `json:"said,omitempty"`      // it said something about the memory, so it has the memory
	Holds     Holds           `json:"holds"`
}

// RelayHas is a relay. It has the memory sealed, and can't read it.
type RelayHas struct {
	URL   string `json:"url"`
	Kind  string `json:"kind"` // house (the primary relay) or mirror
	Holds Holds  `json:"holds"`
}

type whereOf struct {
	ID memory.ID `path:"id" doc:"its whole id"`
}

var whereIs = fieldRoute[whereOf](RightOwner, spec{
	method: "GET", path: "/v1/memories/{id}/where", id: "whereIs",
	summary: "Show which devices and relays have a memory",
	about:   "A device does not report which memories it has read. So of another device, it is known at most that it has said something about the memory and so has it, or that a relay has everything for it. Nothing is fetched.",
	gives:   "What this device knows about that",
}, (*letter).Where)
