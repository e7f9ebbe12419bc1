package fuel

import "unicode/utf8"

// reader reads a binary. Every read is checked, and an error names the offset.
type reader struct {
	b    []byte
	i    int
	base int // of b in the module, for errors
}

func (r *reader) left() int { return len(r.b) - r.i }

func (r *reader) byte() (byte, error) {
	if r.i >= len(r.b) {
		return 0, malformed("ends at byte %d", r.base+r.i)
	}
	r.i++
	return r.b[r.i-1], nil
}

func (r *reader) next(n uint32) ([]byte, error) {
	if uint64(n) > uint64(r.left()) {
		return nil, malformed("%d bytes wanted at byte %d, %d left", n, r.base+r.i, r.left())
	}
	p := r.b[r.i : r.i+int(n)]
	r.i += int(n)
	return p, nil
}

// done returns an error unless everything was read.
func (r *reader) done() error {
	if r.left() > 0 {
		return malformed("%d bytes too many at byte %d", r.left(), r.base+r.i)
	}
	return nil
}

// skipLEB skips a LEB128 number of at most bits bits, signed or unsigned.
func (r *reader) skipLEB(bits int) error {
	if r.i < len(r.b) && r.b[r.i] < 0x80 { // as most are
		r.i++
		return nil
	}
	for n := (bits + 6) / 7; n > 0; n-- {
		c, err := r.byte()
		if err != nil {
			return err
		}
		if c < 0x80 {
			return nil
		}
	}
	return malformed("number too long before byte %d", r.base+r.i)
}

// u32 reads an unsigned LEB128 number of 32 bits.
func (r *reader) u32() (uint32, error) {
	if r.i < len(r.b) && r.b[r.i] < 0x80 { // as most are
		r.i++
		return uint32(r.b[r.i-1]), nil
	}
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c, err := r.byte()
		if err != nil {
			return 0, err
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v), nil
		}
	}
	return 0, malformed("number over 32 bits before byte %d", r.base+r.i)
}

// constant32 reads a signed LEB128 number of 32 bits that was checked before.
func (r *reader) constant32() (v uint32) {
	for shift := 0; r.i < len(r.b); shift += 7 {
		c := r.b[r.i]
		r.i++
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			if shift += 7; c&0x40 != 0 && shift < 32 {
				v |= ^uint32(0) << shift
			}
			break
		}
	}
	return v
}

// index reads a number that must be less than n.
func (r *reader) index(what string, n int) (uint32, error) {
	v, err := r.u32()
	if err == nil && int64(v) >= int64(n) {
		err = malformed("%s %d of %d before byte %d", what, v, n, r.base+r.i)
	}
	return v, err
}

// count reads the length of a vector whose elements take at least each bytes.
func (r *reader) count(what string, each int, most uint32) (uint32, error) {
	n, err := r.u32()
	switch {
	case err != nil:
		return 0, err
	case n > most:
		return 0, overLimit(what, uint64(n), uint64(most))
	case uint64(n)*uint64(each) > uint64(r.left()):
		return 0, malformed("%d %s in %d bytes at byte %d", n, what, r.left(), r.base+r.i)
	}
	return n, nil
}

func (r *reader) name() (string, error) {
	n, err := r.u32()
	if err != nil {
		return "", err
	}
	p, err := r.next(n)
	if err == nil && !utf8.Valid(p) {
		err = malformed("name before byte %d is not UTF-8", r.base+r.i)
	}
	return string(p), err
}

func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendName(b []byte, s string) []byte { return append(appendU32(b, uint32(len(s))), s...) }
