package store

import (
	"bytes"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
)

// Values are CBOR (RFC 8949) in the core deterministic form, so that equal
// records have equal bytes. Times are RFC 3339 text with nanoseconds, which
// keeps the offset of the time zone.
var (
	encoding = func() cbor.EncMode {
		o := cbor.CoreDetEncOptions()
		o.Time = cbor.TimeRFC3339Nano
		m, err := o.EncMode()
		if err != nil {
			panic(err) // the constants above are wrong
		}
		return m
	}()
	// instants is encoding without time zones, because a delta does not carry
	// them.
	instants = func() cbor.EncMode {
		o := cbor.CoreDetEncOptions()
		o.Time = cbor.TimeRFC3339NanoUTC
		m, err := o.EncMode()
		if err != nil {
			panic(err) // the constants above are wrong
		}
		return m
	}()
	decoding = func() cbor.DecMode {
		m, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, UTF8: cbor.UTF8RejectInvalid}.DecMode()
		if err != nil {
			panic(err)
		}
		return m
	}()
)

func encode(v any) ([]byte, error) {
	b, err := encoding.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: encoding %T: %v", memory.ErrInvalid, v, err)
	}
	return b, nil
}

// decode parses a record's plaintext. If the plaintext can't be parsed, another
// version has written it, and decode reports it as damaged.
func decode[T any](key, plain []byte) (T, error) {
	var v T
	if err := decoding.Unmarshal(plain, &v); err != nil {
		return v, damaged(key, "can't be decoded: "+err.Error())
	}
	return v, nil
}

// order compares two values by their encoded bytes, ignoring time zones.
func order(a, b any) (int, error) {
	x, err := instants.Marshal(a)
	if err != nil {
		return 0, fmt.Errorf("%w: encoding %T: %v", memory.ErrInvalid, a, err)
	}
	y, err := instants.Marshal(b)
	if err != nil {
		return 0, fmt.Errorf("%w: encoding %T: %v", memory.ErrInvalid, b, err)
	}
	return bytes.Compare(x, y), nil
}

// alike reports whether two values are equal, ignoring time zones.
func alike(a, b any) (bool, error) {
	c, err := order(a, b)
	return c == 0, err
}
