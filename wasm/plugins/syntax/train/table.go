package main

import (
	"slices"

	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

// table holds weights while they are learnt, and how they were on average.
// Weights are whole numbers, so that every machine learns the same.
type table struct {
	slots   []slot // open addressing
	rows    []row
	time    int64
	found   []int32 // scratch of Add, as the next two
	lists   [][]int32
	touched int32
	asked   []uint8 // how often a feature was to be learnt, by the high bits of its hash
}

type slot struct {
	key uint32
	row int32 // from 1; 0 if the slot is free
}

// row is what is known of one feature.
type row struct {
	cells []int32 // class in the high 8 bits, weight in the others
	sums  []int64 // of each cell, changes by the time at which they came
}

// A feature is learnt when it is asked for the second time: what helps but once
// costs room, and says little of other text.
const learntAt = 2

const askedBits = 22

func newTable() *table {
	return &table{slots: make([]slot, 1<<18), asked: make([]uint8, 1<<askedBits)}
}

func (t *table) find(key uint32) *slot {
	mask := len(t.slots) - 1
	i := int(key*0x9E3779B1>>7) & mask
	for t.slots[i].row != 0 && t.slots[i].key != key {
		i = (i + 1) & mask
	}
	return &t.slots[i]
}

// Add implements greedy.Scorer. Where the features lie is looked up for all of
// them before any is added: the memory's answers then overlap.
func (t *table) Add(features []uint32, scores []int32) {
	t.found = t.found[:0]
	for _, key := range features {
		t.found = append(t.found, t.find(key).row)
	}
	t.lists = t.lists[:0]
	for _, r := range t.found {
		if r != 0 {
			t.lists = append(t.lists, t.rows[r-1].cells)
		}
	}
	for _, list := range t.lists {
		t.touched += list[0]
	}
	for _, list := range t.lists {
		for _, c := range list {
			scores[uint32(c)>>24] += c << 8 >> 8
		}
	}
}

// update makes class right more likely, and class wrong less.
func (t *table) update(features []uint32, right, wrong int) {
	for _, key := range features {
		s := t.find(key)
		if s.row == 0 {
			if n := &t.asked[key>>(32-askedBits)]; *n+1 < learntAt {
				*n++
				continue
			}
			if len(t.rows)*2 > len(t.slots) {
				t.grow()
				s = t.find(key)
			}
			t.rows = append(t.rows, row{})
			*s = slot{key, int32(len(t.rows))}
		}
		r := &t.rows[s.row-1]
		r.change(right, 1, t.time)
		r.change(wrong, -1, t.time)
	}
}

func (r *row) change(class int, by int32, time int64) {
	for k, c := range r.cells {
		if int(uint32(c)>>24) == class {
			r.cells[k] = int32(class<<24) | (c+by)&0xffffff
			r.sums[k] += int64(by) * time
			return
		}
	}
	r.cells = append(r.cells, int32(class<<24)|by&0xffffff)
	r.sums = append(r.sums, int64(by)*time)
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.row != 0 {
			*t.find(s.key) = s
		}
	}
}

// quantise gives the averaged weights in 8 bits, of which an update is scale
// steps. Those below least are left out.
func (t *table) quantise(scale, least int64) map[uint32][]greedy.Weight {
	out := map[uint32][]greedy.Weight{}
	for _, s := range t.slots {
		if s.row == 0 {
			continue
		}
		r := t.rows[s.row-1]
		var list []greedy.Weight
		for k, c := range r.cells {
			steps := scale * (int64(c<<8>>8)*t.time - r.sums[k])
			q := (2*max(steps, -steps) + t.time) / (2 * t.time) // rounded
			if q < least {
				continue
			}
			if q = min(q, 127); steps < 0 {
				q = -q
			}
			list = append(list, greedy.Weight{Class: uint8(uint32(c) >> 24), Value: int8(q)})
		}
		if list != nil {
			slices.SortFunc(list, func(a, b greedy.Weight) int { return int(a.Class) - int(b.Class) })
			out[s.key] = list
		}
	}
	return out
}
