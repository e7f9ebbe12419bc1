package delta

import (
	"errors"
	"math"
	"time"

	"github.com/locket-dev/locket/sync/canonical"
)

var errNumber = errors.New("not in its shortest form")

// moment is a time: milliseconds after the time of its op, and the remaining
// nanoseconds. On the wire it is an integer, or an array of both if there are
// nanoseconds.
type moment struct {
	ms int64
	ns uint32 // less than 1,000,000
}

func (m moment) MarshalCBOR() ([]byte, error) {
	if m.ns == 0 {
		return canonical.Encoding.Marshal(m.ms)
	}
	return canonical.Encoding.Marshal([2]int64{m.ms, int64(m.ns)})
}

func (m *moment) UnmarshalCBOR(b []byte) error {
	if len(b) > 0 && b[0]>>5 == 4 {
		var v []int64
		if err := decoding.Unmarshal(b, &v); err != nil {
			return err
		}
		if len(v) != 2 || v[1] <= 0 || v[1] >= int64(time.Millisecond) {
			return errNumber
		}
		*m = moment{v[0], uint32(v[1])}
		return nil
	}
	m.ns = 0
	return decoding.Unmarshal(b, &m.ms)
}

// fraction is a number that usually is a multiple of a thousandth. On the wire
// it is an unsigned integer of thousandths if that represents it exactly, and
// a float otherwise.
type fraction float64

func (f fraction) MarshalCBOR() ([]byte, error) {
	if n, ok := thousandths(float64(f)); ok {
		return canonical.Encoding.Marshal(n)
	}
	return canonical.Encoding.Marshal(float64(f))
}

func (f *fraction) UnmarshalCBOR(b []byte) error {
	if len(b) > 0 && b[0]>>5 == 0 {
		var n uint64
		if err := decoding.Unmarshal(b, &n); err != nil {
			return err
		}
		*f = fraction(float64(n) / 1000)
		return nil
	}
	var v float64
	if err := decoding.Unmarshal(b, &v); err != nil {
		return err
	}
	if _, ok := thousandths(v); ok {
		return errNumber
	}
	*f = fraction(v)
	return nil
}

func thousandths(v float64) (uint64, bool) {
	n := math.Round(v * 1000)
	if !(n >= 0 && n < 1<<32) || math.Signbit(v) || n/1000 != v {
		return 0, false
	}
	return uint64(n), true
}
