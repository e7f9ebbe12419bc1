package speech

import (
	"encoding/binary"
	"math"
)

// The state: a byte 1 for the version, then in little-endian order the
// integers (heard, frames, begin, last, since, quietAt, raised as 64 bits; fill, age,
// parts, held, count as 32; on and open as a byte each), then as 32-bit floats
// energy, floor, current, least, few, recent, and as 16 bits the first fill samples of the window.
const stateVersion = 1

func (d *detector) encode() []byte {
	b := append(make([]byte, 0, 3200), stateVersion)
	for _, v := range d.wide() {
		b = binary.LittleEndian.AppendUint64(b, uint64(*v))
	}
	for _, v := range d.narrow() {
		b = binary.LittleEndian.AppendUint32(b, uint32(*v))
	}
	for _, v := range [...]bool{d.on, d.open} {
		if v {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	for _, f := range d.floats() {
		for _, v := range f {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	for _, s := range d.window[:d.fill] {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(s)))
	}
	return b
}

func (d *detector) wide() [7]*int64 {
	return [...]*int64{&d.heard, &d.frames, &d.begin, &d.last, &d.since, &d.quietAt, &d.raised}
}

func (d *detector) narrow() [5]*int {
	return [...]*int{&d.fill, &d.age, &d.parts, &d.held, &d.count}
}

// floats lists the values that are stored as floats.
func (d *detector) floats() [][]float32 {
	all := [][]float32{d.energy[:], d.floor[:], d.current[:]}
	for p := range d.least {
		all = append(all, d.least[p][:])
	}
	return append(all, d.few[:], d.recent[:])
}

// decode reads what encode wrote. A state that it does not understand, or that is impossible, is
// ignored: the stream starts afresh.
func (d *detector) decode(b []byte) {
	const fixed = 1 + 7*8 + 5*4 + 2 + 4*(levels*(3+minParts)+4+2*ahead+1)
	if len(b) < fixed || b[0] != stateVersion {
		return
	}
	b = b[1:]
	for _, v := range d.wide() {
		*v = int64(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	for _, v := range d.narrow() {
		*v = int(int32(binary.LittleEndian.Uint32(b)))
		b = b[4:]
	}
	d.on, d.open = b[0] == 1, b[1] == 1
	b = b[2:]
	sound := true
	for _, f := range d.floats() {
		for i := range f {
			f[i] = math.Float32frombits(binary.LittleEndian.Uint32(b))
			sound = sound && f[i] == f[i] && f[i] <= math.MaxFloat32 && f[i] >= -math.MaxFloat32
			b = b[4:]
		}
	}
	const longest = 1 << 40 // samples: no stream is that long
	for _, v := range d.wide() {
		sound = sound && *v >= -longest && *v <= longest
	}
	sound = sound && d.fill >= 0 && d.fill < size && len(b) == 2*d.fill && d.age >= 0 && d.age < minLength && d.parts >= 0 && d.held >= 0 && d.held <= hold && d.count >= 0 && d.heard >= 0
	if !sound {
		*d = detector{}
		return
	}
	for i := range d.fill {
		d.window[i] = float32(int16(binary.LittleEndian.Uint16(b[2*i:])))
	}
}
