package abi

// Limits of the contract, version 1. A manifest may ask for less, and for more of some of them, up
// to the Most constants.
const (
	MaxModule = 10 << 20 // bytes of a module as loaded
	MaxInput  = 4 << 20  // bytes of an encoded Event; a 640×480 photo in RGB and grey is 1.23 MB
	MaxOutput = 256 << 10
	MaxState  = 64 << 10 // two seconds of PCM
	MaxError  = 1 << 10  // bytes of a plugin's own error, encoded
	MaxDepth  = 8        // nested maps and arrays

	PageSize      = 64 << 10
	DefaultMemory = 16 << 20 // bytes of linear memory; Go needs 8 MiB
	MostMemory    = 64 << 20

	// Fuel is what a call may spend. A unit pays for one function entry or one iteration of a loop,
	// including about 64 instructions, or for 64 bytes of a bulk operation. That is 1 to 2 ns of
	// code compiled from Go. Go compiles a function into one loop, and pays about 25 units for each
	// byte that it reads.
	DefaultFuel = 50_000_000
	MostFuel    = 2_000_000_000
	// StartFuel pays for the start function, _initialize and locket_abi, once for each
	// instance.
	StartFuel = 50_000_000

	// Milliseconds of the wall clock, if wazero compiles. Package time is not imported, because it
	// makes a guest larger.
	DefaultTime = 250
	MostTime    = 2000
)

// Most elements of each list, and bytes of each string, in an Output.
const (
	MaxCandidates  = 64
	MaxRedactions  = 256
	MaxAnnotations = 256
	MaxDerived     = 64
	MaxRefusals    = 64
	MaxSpans       = 16
	MaxEntities    = 32
	MaxTags        = 32
	MaxSteps       = 64
	MaxText        = 64 << 10 // a text, a secret, details
	MaxName        = 256      // every other string
)

// Most of each list in an Event.
const (
	MaxBefore   = 8
	MaxValues   = 64
	MaxMemories = 16
)

// Logging, for the capability "log".
const (
	MaxLogLine  = 256 // bytes; longer lines are cut
	MaxLogLines = 16  // lines a call; more are counted and dropped
)

// Limits are what DecodeOutput accepts. The zero value means the contract's limits.
type Limits struct {
	Output     int // bytes, encoded
	Candidates int
	State      int // bytes
}

func (l Limits) orDefault() Limits {
	or := func(v *int, most int) {
		if *v <= 0 || *v > most {
			*v = most
		}
	}
	or(&l.Output, MaxOutput)
	or(&l.Candidates, MaxCandidates)
	or(&l.State, MaxState)
	return l
}

// MaxEventText is the longest text of an event, or of an earlier turn, that a host sends:
// memory.MaxText.
const MaxEventText = 64 << 10
