package recall

import "hash/maphash"

// dict numbers strings from 0 in the order in which they came. The strings lie
// in one arena. The table is a hash table of numbers with open addressing.
type dict struct {
	seed  maphash.Seed
	arena []byte
	ends  []uint32 // of string i in the arena
	table []uint32 // number plus 1; 0: free. Its length is a power of two
}

func newDict() *dict { return &dict{seed: maphash.MakeSeed(), table: make([]uint32, 64)} }

func (d *dict) len() int { return len(d.ends) }

func (d *dict) bytes(i uint32) []byte {
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.arena[start:d.ends[i]]
}

func (d *dict) text(i uint32) string { return string(d.bytes(i)) }

// find returns the number of s, or none.
func (d *dict) find(s string) uint32 {
	mask := uint64(len(d.table) - 1)
	for h := maphash.String(d.seed, s) & mask; d.table[h] != 0; h = (h + 1) & mask {
		if i := d.table[h] - 1; string(d.bytes(i)) == s {
			return i
		}
	}
	return none
}

// id returns the number of s, new or known.
func (d *dict) id(s string) uint32 {
	if i := d.find(s); i != none {
		return i
	}
	if 2*(len(d.ends)+1) > len(d.table) {
		d.table = make([]uint32, 2*len(d.table))
		for i := range d.ends {
			d.place(uint32(i))
		}
	}
	d.arena = append(d.arena, s...)
	d.ends = append(d.ends, uint32(len(d.arena)))
	i := uint32(len(d.ends) - 1)
	d.place(i)
	return i
}

func (d *dict) place(i uint32) {
	mask := uint64(len(d.table) - 1)
	h := maphash.Bytes(d.seed, d.bytes(i)) & mask
	for d.table[h] != 0 {
		h = (h + 1) & mask
	}
	d.table[h] = i + 1
}
