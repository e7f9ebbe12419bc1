package recall

import "github.com/locket-dev/locket/memory"

// meta is what the index keeps of a document besides its order and its terms: 48 bytes.
type meta struct {
	id      memory.ID
	at      int64  // Unix milliseconds; noTime: not known
	link    uint32 // if flagSource is set, see core.refer; else the previous document in its session's chain
	next    uint32 // next document in that chain
	session uint32 // index in names
	speaker uint32 // index in names
	off     uint32 // beginning in forward; it ends where the next one begins
	length  uint16 // number of words; mostWords: that many or more
	what    uint8  // see whatOf
	flags   uint8
}

const (
	noTime    = -1 << 63
	mostWords = 1<<16 - 1 // a text of 64 KiB has fewer
)

// These flags are not stored in segments, except flagSource.
const (
	flagBased = 64  // its terms are stored as the difference from its source's
	flagDead  = 128 // it was removed
)

// whatOf packs the kind; the type: 1 + index in memory.Types, 0: none; whether a memory is plain;
// and its sensitivity: 1 + sensitivity, 0: not known.
func whatOf(k Kind, typ, sens uint8, plain bool) uint8 {
	what := sens<<5 | uint8(k-Utterance)<<4 | typ
	if plain {
		what |= whatPlain
	}
	return what
}

// parts of what
const (
	whatType  = 7
	whatPlain = 8
)

func (m *meta) kind() Kind { return Utterance + Kind(m.what>>4&1) }
func (m *meta) typ() uint8 { return m.what & whatType }

// memoryType returns the type of a memory; empty: an utterance, or a memory without a type.
func (m *meta) memoryType() memory.Type {
	if t := m.typ(); t > 0 {
		return memory.Types[t-1]
	}
	return ""
}

func (m *meta) sens() uint8   { return m.what >> 5 }
func (m *meta) plain() bool   { return m.what&whatPlain != 0 }
func (m *meta) dead() bool    { return m.flags&flagDead != 0 }
func (m *meta) sourced() bool { return m.flags&flagSource != 0 }
func (m *meta) based() bool   { return m.flags&flagBased != 0 }

// prev returns the previous document in its session's chain, or none.
func (m *meta) prev() uint32 {
	if m.sourced() {
		return none
	}
	return m.link
}
