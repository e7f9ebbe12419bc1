package abi

import (
	"math"
	"unicode/utf8"
	"unsafe"
)

// decoder reads CBOR strictly: definite lengths, shortest heads, no tags. It keeps the first error;
// afterwards every read returns zero and consumes nothing.
type decoder struct {
	b     []byte
	i     int
	alias bool // strings and bytes point into b
	err   *Error
	path  [MaxDepth]step
	depth int
}

// step is a part of the path to the value that is read; index < 0 for a field.
type step struct {
	name  string
	index int
}

func (d *decoder) push(name string) {
	if d.err == nil {
		d.path[d.depth] = step{name, -1}
		d.depth++
	}
}

func (d *decoder) pop() {
	if d.err == nil {
		d.depth--
	}
}

func (d *decoder) fail(c Code) error {
	if d.err == nil {
		d.err = &Error{Code: c, Place: place(d.path[:d.depth]), Offset: d.i}
		d.b = nil
		d.i = 0
	}
	return d.err
}

// end returns the first error; the message must be used up.
func (d *decoder) end() error {
	if d.err == nil && d.i != len(d.b) {
		d.fail(CodeTrailing)
	}
	if d.err != nil {
		return d.err
	}
	return nil
}

// head reads the first byte of an item and its argument.
func (d *decoder) head() (major byte, info byte, n uint64) {
	if d.i >= len(d.b) {
		d.fail(CodeTruncated)
		return
	}
	c := d.b[d.i]
	major, info = c&0xe0, c&0x1f
	if info < 24 {
		d.i++
		return major, info, uint64(info)
	}
	if info > 27 {
		d.fail(CodeForm)
		return
	}
	size := 1 << (info - 24)
	p := d.b[d.i+1:]
	if len(p) < size {
		d.fail(CodeTruncated)
		return
	}
	for _, c := range p[:size] {
		n = n<<8 | uint64(c)
	}
	least := uint64(24)
	if size > 1 {
		least = 1 << (4 * size)
	}
	if n < least && major != majorSimple {
		d.fail(CodeForm)
		return
	}
	d.i += 1 + size
	return major, info, n
}

// want reads a head of one major type.
func (d *decoder) want(major byte) uint64 {
	m, _, n := d.head()
	if d.err == nil && m != major {
		if m == majorTag {
			d.fail(CodeForm)
		} else {
			d.fail(CodeType)
		}
	}
	if d.err != nil {
		return 0
	}
	return n
}

// mapHead returns the number of pairs, each of which takes at least 2 bytes.
func (d *decoder) mapHead() int { return d.count(d.want(majorMap), 2, math.MaxInt32) }

// list returns the number of elements, at most most.
func (d *decoder) list(most int) int { return d.count(d.want(majorArray), 1, most) }

// count checks a number of items against the remaining bytes and the limit, before anything is
// allocated for them.
func (d *decoder) count(n uint64, each, most int) int {
	switch {
	case d.err != nil:
		return 0
	case n > uint64(most):
		d.fail(CodeLimit)
	case n > uint64((len(d.b)-d.i)/each):
		d.fail(CodeTruncated)
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

// key reads a map's next key, and records it in seen. No version so far has keys over 63, and only
// an Event may have them; those are not recorded.
func (d *decoder) key(seen *uint64) uint64 {
	k := d.want(majorUint)
	if d.err == nil && k < 64 {
		if *seen&(1<<k) != 0 {
			d.fail(CodeDuplicate)
		}
		*seen |= 1 << k
	}
	return k
}

func (d *decoder) next(n uint64) []byte {
	if d.err == nil && n > uint64(len(d.b)-d.i) {
		d.fail(CodeTruncated)
	}
	if d.err != nil {
		return nil
	}
	p := d.b[d.i : d.i+int(n) : d.i+int(n)]
	d.i += int(n)
	return p
}

func (d *decoder) raw(major byte, most int) []byte {
	n := d.want(major)
	if n > uint64(most) {
		d.fail(CodeLimit)
	}
	return d.next(n)
}

func (d *decoder) string(most int) string {
	p := d.raw(majorText, most)
	switch {
	case len(p) == 0:
		return ""
	case !utf8.Valid(p):
		d.i -= len(p)
		d.fail(CodeUTF8)
		return ""
	case d.alias:
		return unsafe.String(&p[0], len(p))
	}
	return string(p)
}

// bytes returns nil for an empty string.
func (d *decoder) bytes(most int) []byte {
	p := d.raw(majorBytes, most)
	if len(p) == 0 {
		return nil
	}
	if d.alias {
		return p
	}
	return append([]byte(nil), p...)
}

func (d *decoder) strings(list []string, most, each int) []string {
	n := d.list(most)
	list = room(list, n)
	for ; n > 0 && d.err == nil; n-- {
		list = append(list, d.string(each))
	}
	return list
}

func (d *decoder) int() int64 {
	major, _, n := d.head()
	switch {
	case d.err != nil:
		return 0
	case major != majorUint && major != majorNeg:
		d.fail(CodeType)
		return 0
	case n > math.MaxInt64:
		d.fail(CodeNumber)
		return 0
	case major == majorNeg:
		return ^int64(n)
	}
	return int64(n)
}

// small is an int that fits in 32 bits, like Go's int in a guest.
func (d *decoder) small() int {
	v := d.int()
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.fail(CodeNumber)
		return 0
	}
	return int(v)
}

func (d *decoder) bool() bool {
	major, info, _ := d.head()
	if d.err == nil && (major != majorSimple || info != simpleFalse&0x1f && info != simpleTrue&0x1f) {
		d.fail(CodeType)
	}
	return d.err == nil && info == simpleTrue&0x1f
}

// float accepts all three widths, and integers that a float64 holds exactly, because encoders of
// other languages choose the shortest form.
func (d *decoder) float() float64 {
	start := d.i
	major, info, n := d.head()
	if d.err != nil {
		return 0
	}
	var v float64
	switch {
	case major == majorUint && n <= 1<<53:
		v = float64(n)
	case major == majorNeg && n < 1<<53:
		v = -1 - float64(n)
	case major == majorSimple && info == float16&0x1f:
		v = half(uint16(n))
	case major == majorSimple && info == float32bits&0x1f:
		v = float64(math.Float32frombits(uint32(n)))
	case major == majorSimple && info == float64bits&0x1f:
		v = math.Float64frombits(n)
	case major == majorUint || major == majorNeg:
		d.i = start
		d.fail(CodeNumber)
		return 0
	default:
		d.i = start
		d.fail(CodeType)
		return 0
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		d.i = start
		d.fail(CodeNumber)
		return 0
	}
	return v
}

// half widens an IEEE 754 binary16 (RFC 8949, appendix D).
func half(h uint16) float64 {
	exp, mant := int(h>>10&0x1f), float64(h&0x3ff)
	var v float64
	switch exp {
	case 0:
		v = math.Ldexp(mant, -24)
	case 31:
		if v = math.Inf(1); mant != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(mant+1024, exp-25)
	}
	if h&0x8000 != 0 {
		return -v
	}
	return v
}

// skip skips one item of any kind, depth levels into the message.
func (d *decoder) skip(depth int) {
	major, info, n := d.head()
	if d.err != nil {
		return
	}
	switch major {
	case majorUint, majorNeg:
	case majorBytes:
		d.next(n)
	case majorText:
		if p := d.next(n); !utf8.Valid(p) {
			d.fail(CodeUTF8)
		}
	case majorArray, majorMap:
		each := 1
		if major == majorMap {
			each = 2
		}
		if depth >= MaxDepth {
			d.fail(CodeLimit)
			return
		}
		for c := d.count(n, each, math.MaxInt32) * each; c > 0 && d.err == nil; c-- {
			d.skip(depth + 1)
		}
	case majorSimple:
		if info < simpleFalse&0x1f || info == 24 || info == simpleTrue&0x1f+2 {
			d.fail(CodeForm)
		}
	default:
		d.fail(CodeForm)
	}
}

// room returns list, emptied, with room for n; nil stays nil if n is 0.
func room[T any](list []T, n int) []T {
	if cap(list) >= n {
		return list[:0]
	}
	return make([]T, 0, n)
}

// open begins an array of at most most elements, and returns their number.
func (d *decoder) open(name string, most int) int {
	d.push(name)
	return d.list(most)
}

// at records that element i comes next, and reports whether there was no error so far.
func (d *decoder) at(i int) bool {
	if d.err == nil {
		d.path[d.depth-1].index = i
	}
	return d.err == nil
}

// elements reads an array of at most most elements into list, each by read. It makes d escape to
// the heap; where that matters, a loop is used instead.
func elements[T any](d *decoder, name string, list []T, most int, read func(*decoder, *T)) []T {
	n := d.open(name, most)
	list = room(list, n)
	for i := 0; i < n && d.at(i); i++ {
		var zero T
		list = append(list, zero)
		read(d, &list[i])
	}
	d.pop()
	return list
}
