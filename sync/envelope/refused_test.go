package envelope

import (
	"bytes"
	"slices"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
)

// tree is a canonical CBOR map by its keys.
type tree map[uint64]any

func treeOf(t testing.TB, raw []byte) tree {
	t.Helper()
	var m tree
	if err := cbor.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// with returns m with some keys changed; nil removes a key.
func (m tree) with(kv ...any) tree {
	out := tree{}
	for k, v := range m {
		out[k] = v
	}
	for i := 0; i < len(kv); i += 2 {
		if k := uint64(kv[i].(int)); kv[i+1] == nil {
			delete(out, k)
		} else {
			out[k] = kv[i+1]
		}
	}
	return out
}

// signedAs returns bytes on the wire, signed by by, whatever they contain.
func (by actor) signedAs(t testing.TB, domain string, raw []byte) []byte {
	t.Helper()
	sig, err := KeySigner(by.key)(domain, raw)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// refusedDeltas break one rule each; all from "of another space" on have a right signature.
func refusedDeltas(t *testing.T, h *history, first, second, late *Delta) (out []refusedVector) {
	body := []byte("body one")
	base := treeOf(t, first.Header.Bytes())
	from := func(by actor, m tree) []byte {
		raw := encode(m)
		return encode(wireDelta{Header: raw, Signature: by.signedAs(t, DomainDelta, raw), Body: body})
	}
	add := func(name, what, reason string, wire []byte) {
		out = append(out, refusedVector{name, what, wire, reason})
	}
	form := func(name string, kv ...any) { add(name, "delta", "form", from(phone, base.with(kv...))) }
	form("version 2", 1, 2)
	form("a key is missing", 8, nil)
	form("an unknown key", 11, 1)
	form("a space of zeros", 2, make([]byte, 16))
	form("a space of 15 bytes", 2, make([]byte, 15))
	form("a member of zeros", 3, make([]byte, 8))
	form("seq 0", 5, 0)
	form("seq 2 without prev", 5, 2)
	form("prev of the first", 6, bytes.Repeat([]byte{1}, 32))
	form("a head of zeros", 7, make([]byte, 32))
	form("epoch 0", 8, 0)
	form("an epoch over 32 bits", 8, uint64(1)<<32)
	form("a body of no bytes", 10, 0)
	form("a body over 1 MB", 10, 1<<20+1)
	form("seq as text", 5, "1")
	raw := first.Header.Bytes()
	form192 := encode(wireDelta{Header: append(bytes.Clone(raw), make([]byte, 193-len(raw))...), Signature: first.Signature, Body: body})
	add("a header of 193 bytes", "delta", "form", form192)
	add("a signature of 63 bytes", "delta", "form", encode(wireDelta{Header: raw, Signature: first.Signature[:63], Body: body}))
	add("a body that is there, and empty", "delta", "form", encode(wireDelta{Header: raw, Signature: first.Signature, Body: []byte{}}))
	add("an array of two", "delta", "form", encode([]any{raw, first.Signature}))
	add("an array of no stated length", "delta", "form", append(append([]byte{0x9f}, first.Bytes()[1:]...), 0xff))
	add("a tag before it", "delta", "form", append([]byte{0xc1}, first.Bytes()...))
	swapped := append([]byte{0xaa}, append(bytes.Clone(raw[3:21]), append([]byte{1, 1}, raw[21:]...)...)...)
	add("keys out of order", "delta", "form", encode(wireDelta{Header: swapped, Signature: phone.signedAs(t, DomainDelta, swapped), Body: body}))

	add("signed for another domain", "delta", "signature", encode(wireDelta{Header: raw, Signature: phone.signedAs(t, DomainLog, raw), Body: body}))
	add("signed by another member", "delta", "signature", from(glasses, base))
	add("of another space", "delta", "rule", from(phone, base.with(2, bytes.Repeat([]byte{9}, 16))))
	add("a log entry that nobody knows", "delta", "head", from(phone, base.with(7, bytes.Repeat([]byte{9}, 32))))
	add("an epoch that was not in force there", "delta", "rule", from(phone, base.with(8, 2)))
	one := h.entries[0].Hash()
	add("before its author was let in", "delta", "rule", from(phone, base.with(7, one[:])))
	end := h.state.Head()
	gone := treeOf(t, late.Header.Bytes())
	add("of the removed, who knew", "delta", "rule", from(worker, gone.with(7, end[:], 8, 3)))
	add("of the removed, in another life", "delta", "rule", from(worker, gone.with(4, 5)))

	next := treeOf(t, second.Header.Bytes())
	add("the last again", "chained", "known", second.Bytes())
	add("another in the last one's place", "chained", "fork", from(phone, next.with(9, bytes.Repeat([]byte{7}, 32))))
	add("the next, after another", "chained", "fork", from(phone, next.with(5, 3, 6, bytes.Repeat([]byte{7}, 32))))
	hash := second.Header.Hash()
	add("one is missing", "chained", "gap", from(phone, next.with(5, 4, 6, hash[:])))
	add("one that was taken before the last", "chained", "older", first.Bytes())
	return out
}

// refusedEntries break one rule each, after the whole log.
func refusedEntries(t *testing.T, h *history) (out []refusedVector) {
	all := func(but ...memory.MemberID) []Wrap {
		ids := []memory.MemberID{theRoot.id, glasses.id, phone.id, reader.id}
		return wrapTo(slices.DeleteFunc(ids, func(id memory.MemberID) bool { return slices.Contains(but, id) })...)
	}
	addition := func(who actor, role Role) *Entry {
		return &Entry{Action: Add, Epoch: 3, Member: who.member(role), Wraps: wrapTo(who.id)}
	}
	removal := func(who actor) *Entry {
		return &Entry{Action: Remove, Epoch: 4, Removed: &who.id, Wraps: all(who.id)}
	}
	rule := func(name string, by actor, e *Entry) {
		out = append(out, refusedVector{name, "entry", h.sign(by, e).Bytes(), "rule"})
	}
	change := func(e *Entry, f func(*Entry)) *Entry { f(e); return e }
	rule("a reader adds itself as owner", reader, addition(other, Owner))
	rule("a stranger adds itself", other, addition(other, Owner))
	rule("the removed adds", worker, addition(other, Reader))
	rule("an id that was a member's", glasses, addition(worker, Reader))
	rule("a key that was a member's", glasses, change(addition(other, Reader), func(e *Entry) { e.Member.Key = worker.public() }))
	rule("the root as a member", theRoot, change(addition(other, Reader), func(e *Entry) { e.Member.Key = theRoot.public() }))
	rule("an addition that begins an epoch", glasses, change(addition(other, Reader), func(e *Entry) { e.Epoch = 4 }))
	rule("keys for another too", glasses, change(addition(other, Reader), func(e *Entry) { e.Wraps = wrapTo(other.id, phone.id) }))
	rule("a writer removes", phone, removal(reader))
	rule("an owner removes an owner", glasses, removal(glasses))
	rule("the removal of who is no member", glasses, removal(other))
	rule("the removal of who was removed", theRoot, removal(worker))
	rule("a removal in its epoch", glasses, change(removal(reader), func(e *Entry) { e.Epoch = 3 }))
	rule("the removed gets the new key", glasses, change(removal(reader), func(e *Entry) { e.Wraps = all() }))
	rule("recovery gets no key", glasses, change(removal(reader), func(e *Entry) { e.Wraps = all(reader.id, theRoot.id) }))
	rule("one who stays gets no key", glasses, change(removal(reader), func(e *Entry) { e.Wraps = all(reader.id, phone.id) }))
	rule("an extractor begins an epoch", worker, &Entry{Action: Rekey, Epoch: 4, Wraps: all()})
	rule("an epoch that skips one", glasses, &Entry{Action: Rekey, Epoch: 5, Wraps: all()})
	after := h.sign(glasses, &Entry{Action: Rekey, Epoch: 4, Wraps: all()})
	after.Prev = Hash{9}
	if err := after.Sign(KeySigner(glasses.key)); err != nil {
		t.Fatal(err)
	}
	out = append(out, refusedVector{"the next, after another", "entry", after.Bytes(), "fork"})
	out = append(out, refusedShapes(t, h.sign(glasses, addition(other, Reader)), h.sign(glasses, removal(reader)))...)

	first := treeOf(t, h.entries[0].body())
	member := founding().Member
	founded := func(name, reason string, by actor, m tree) {
		raw := encode(m)
		out = append(out, refusedVector{name, "founding", encode(wireSigned{Message: raw, Signature: by.signedAs(t, DomainLog, raw)}), reason})
	}
	founded("founded with a writer", "rule", theRoot, first.with(11, func() *Member { m := *member; m.Role = Writer; return &m }()))
	founded("founded with the root as a member", "rule", theRoot, first.with(11, func() *Member { m := *member; m.Key = theRoot.public(); return &m }()))
	founded("founded in epoch 2", "rule", theRoot, first.with(8, 2))
	founded("founded without recovery", "rule", theRoot, first.with(14, wrapTo(glasses.id)))
	founded("founded by a member", "form", glasses, first.with(5, glasses.id[:]))
	founded("founded, signed by another", "signature", glasses, first)
	return out
}

// refusedShapes are not entries, or do not have the fields of their action.
func refusedShapes(t *testing.T, add, remove *Entry) (out []refusedVector) {
	adds, removes := treeOf(t, add.body()), treeOf(t, remove.body())
	form := func(name string, m tree, kv ...any) {
		raw := encode(m.with(kv...))
		out = append(out, refusedVector{name, "entry", encode(wireSigned{Message: raw, Signature: glasses.signedAs(t, DomainLog, raw)}), "form"})
	}
	member := func(kv ...any) tree { return treeOf(t, encode(add.Member)).with(kv...) }
	wrap := func(to memory.MemberID, keys []byte) tree { return tree{1: to[:], 2: keys} }
	form("an entry of version 2", adds, 1, 2)
	form("an entry of an unknown action", adds, 6, 5)
	form("an entry with an unknown key", adds, 15, 1)
	form("an entry of a space of zeros", adds, 2, make([]byte, 16))
	form("an entry without prev", adds, 4, make([]byte, 32))
	form("a founding that is not the first", adds, 6, 1)
	form("an entry of epoch 0", adds, 8, 0)
	form("an addition with a root", adds, 9, theRoot.public())
	form("an addition with a recovery recipient", adds, 10, "age1pq1x")
	form("an addition of nobody", adds, 11, nil)
	form("an addition with a removal", adds, 12, reader.id[:])
	form("positions in an addition", adds, 13, []any{tree{1: 1, 2: 1}})
	form("no wraps", adds, 14, []any{})
	form("a wrap of no bytes", adds, 14, []any{wrap(other.id, []byte{})})
	form("a wrap over 8,192 bytes", removes, 14, []any{wrap(other.id, make([]byte, 8193))})
	form("wraps out of order", removes, 14, []any{wrap(phone.id, []byte("k")), wrap(glasses.id, []byte("k"))})
	form("66 wraps", removes, 14, slices.Collect(func(yield func(any) bool) {
		for i := range 66 {
			if !yield(wrap(memory.MemberID{1, byte(i)}, []byte("k"))) {
				return
			}
		}
	}))
	form("a removal of nobody", removes, 12, nil)
	form("no positions, present", removes, 13, []any{})
	form("a position of seq 0", removes, 13, []any{tree{1: 1, 2: 0}})
	form("positions out of order", removes, 13, []any{tree{1: 2, 2: 1}, tree{1: 1, 2: 1}})
	form("129 positions", removes, 13, slices.Collect(func(yield func(any) bool) {
		for i := range 129 {
			if !yield(tree{1: i, 2: 1}) {
				return
			}
		}
	}))
	form("a member of role 0", adds, 11, member(4, 0))
	form("a member of role 5", adds, 11, member(4, 5))
	form("a member whose id is zeros", adds, 11, member(1, make([]byte, 8)))
	form("a member's key of 31 bytes", adds, 11, member(2, make([]byte, 31)))
	form("a member without a recipient", adds, 11, member(3, ""))
	form("a recipient over 2,048 bytes", adds, 11, member(3, string(bytes.Repeat([]byte{'a'}, 2049))))
	form("an empty name, present", adds, 11, member(5, []byte{}))
	form("a name over 2,048 bytes", adds, 11, member(5, make([]byte, 2049)))
	form("a grant over 8,192 bytes", adds, 11, member(6, make([]byte, 8193)))
	wire := add.Bytes()
	out = append(out, refusedVector{"an entry that is cut by a byte", "entry", wire[:len(wire)-1], "form"})
	return append(out, refusedVector{"an entry, and a byte more", "entry", append(bytes.Clone(wire), 0), "form"})
}
