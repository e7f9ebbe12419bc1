package store

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
)

// A kind is the first byte of a key. Numbers in keys are big-endian, so that
// keys sort as what they stand for.
//
//	kind  rest of the key            value
//	H     -                          head: format, counters, sum of the buckets
//	H     't' turn(1)                digests of buckets, see turns
//	H     bucket(1)                  digest of the bucket(32), before format 4
//	G     bucket(1) mac16(key)       guard: tag(16) and key of the record
//	a     memory(16) member(8) seq(8)  assertion
//	d     member(8) seq(8)           id of the assertion's memory
//	q     mac16(group) memory(16)    empty: the memory is of the group
//	m     memory(16)                 derived memory
//	t     learnt(8) memory(16)       type and state of the memory
//	x     id(16)                     erased: number in the document log, or empty
//	c     seq(8)                     change
//	n     memory(16) seq(8)          empty: the change names the memory
//	o     seq(8)                     outbox: names what other members are to get
//	l     seq(8)                     document log: kind and id
//	u     utterance(16)              utterance
//	w     at(8) utterance(16)        empty
//	e     mac16(event) utterance(16) empty
//	r     seq(8)                     refusal
//	y     mac16(event) seq(8)        empty: the refusal is of the event
//	k     mac16(device, boot) page(8)  marks of 1024 events
//	z     mac16(name)                cursor
//	b     mac16(name)                meta
//	v     mac16(name)                device
//	j     seq(8)                     malformed input
//	f     blob(16)                   blob: size, key, owner
//	s     mac16(name)                segment
//	g     at(8) utterance(16)        task: what is still to be done with the utterance
//	p     pack(8)                    cold page: stubs of what one pack holds
//	i     member(8)                  dots whose assertions are cold
//	h     mac16(group)               empty: a cold group that is wanted back
//	U     at(8) utterance(16)        page of packed utterances, from there on
type kind byte

const (
	kindHead           kind = 'H'
	kindGuard          kind = 'G'
	kindAssertion      kind = 'a'
	kindDot            kind = 'd'
	kindGroup          kind = 'q'
	kindMemory         kind = 'm'
	kindMemoryTime     kind = 't'
	kindErased         kind = 'x'
	kindChange         kind = 'c'
	kindChangeOf       kind = 'n'
	kindOutbox         kind = 'o'
	kindDocument       kind = 'l'
	kindUtterance      kind = 'u'
	kindUtteranceTime  kind = 'w'
	kindUtteranceEvent kind = 'e'
	kindRefusal        kind = 'r'
	kindRefusalEvent   kind = 'y'
	kindMarks          kind = 'k'
	kindCursor         kind = 'z'
	kindMeta           kind = 'b'
	kindDevice         kind = 'v'
	kindQuarantined    kind = 'j'
	kindBlob           kind = 'f'
	kindSegment        kind = 's'
	kindTask           kind = 'g'
	kindCold           kind = 'p'
	kindColdDots       kind = 'i'
	kindWanted         kind = 'h'
	kindLines          kind = 'U'
	macSize                 = 16
	idSize                  = 16
	timeSize                = 8
	seqSize                 = 8
	memberSize              = 8
	dotSize                 = memberSize + seqSize
	guardKeySize            = 2 + macSize
	bucketCount             = 256
	maxKey                  = 64 // bytes; no key of a known kind is longer
)

// kinds names each kind, and says how its keys are composed: i is an id, m a
// MAC, s a sequence number, t a time, d a dot, w a member, b a bucket.
var kinds = map[kind]struct{ name, parts string }{
	kindHead:           {"head", ""},
	kindGuard:          {"guard", "bm"},
	kindAssertion:      {"assertion", "id"},
	kindDot:            {"dot", "d"},
	kindGroup:          {"group", "mi"},
	kindMemory:         {"memory", "i"},
	kindMemoryTime:     {"memory by time", "ti"},
	kindErased:         {"erased", "i"},
	kindChange:         {"change", "s"},
	kindChangeOf:       {"change of memory", "is"},
	kindOutbox:         {"outbox", "s"},
	kindDocument:       {"document", "s"},
	kindUtterance:      {"utterance", "i"},
	kindUtteranceTime:  {"utterance by time", "ti"},
	kindUtteranceEvent: {"utterance by event", "mi"},
	kindRefusal:        {"refusal", "s"},
	kindRefusalEvent:   {"refusal by event", "ms"},
	kindMarks:          {"event marks", "ms"},
	kindCursor:         {"cursor", "m"},
	kindMeta:           {"meta", "m"},
	kindDevice:         {"device", "m"},
	kindQuarantined:    {"malformed", "s"},
	kindBlob:           {"blob", "i"},
	kindSegment:        {"segment", "m"},
	kindTask:           {"task", "ti"},
	kindCold:           {"cold page", "s"},
	kindColdDots:       {"cold dots", "w"},
	kindWanted:         {"wanted group", "m"},
	kindLines:          {"page of utterances", "ti"},
}

// keyOf composes a key.
func keyOf(k kind, parts ...[]byte) []byte {
	key := make([]byte, 1, maxKey)
	key[0] = byte(k)
	return append(key, slices.Concat(parts...)...)
}

func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// timeKey encodes a time in milliseconds so that keys sort like times, from the
// year 292269054 BC on.
func timeKey(t time.Time) []byte { return u64(uint64(t.UnixMilli()) ^ 1<<63) }

func dotKey(d memory.Dot) []byte {
	return append(d.Member[:len(d.Member):len(d.Member)], u64(d.Seq)...)
}

// describe says in words which record a key belongs to.
func describe(key []byte) (name, text string) {
	if len(key) == 0 {
		return "unknown", ""
	}
	k, known := kinds[kind(key[0])]
	if !known {
		return "unknown", hex.EncodeToString(key)
	}
	rest := key[1:]
	if kind(key[0]) == kindHead && len(rest) == 1 {
		return "bucket", strconv.Itoa(int(rest[0]))
	}
	if kind(key[0]) == kindHead && len(rest) == 2 {
		return "buckets of turn", strconv.Itoa(int(rest[1]))
	}
	for _, p := range k.parts {
		size := map[rune]int{'i': idSize, 'm': macSize, 's': seqSize, 't': timeSize, 'd': dotSize, 'w': memberSize, 'b': 1}[p]
		if len(rest) < size {
			return k.name, hex.EncodeToString(key)
		}
		part := rest[:size]
		rest = rest[size:]
		if text != "" {
			text += "/"
		}
		switch p {
		case 'i':
			text += memory.ID(part).String()
		case 's':
			text += strconv.FormatUint(binary.BigEndian.Uint64(part), 10)
		case 't':
			text += time.UnixMilli(int64(binary.BigEndian.Uint64(part) ^ 1<<63)).UTC().Format(time.RFC3339)
		case 'd':
			text += fmt.Sprintf("%x:%d", part[:memberSize], binary.BigEndian.Uint64(part[memberSize:]))
		default:
			text += hex.EncodeToString(part)
		}
	}
	if len(rest) > 0 {
		return k.name, hex.EncodeToString(key)
	}
	return k.name, text
}
