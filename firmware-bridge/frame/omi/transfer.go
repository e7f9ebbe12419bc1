package omi

import "hash/crc32"

// Transfer follows one read of the ring, from RingRead to RingDone. It trusts no number of the
// device that its bytes don't confirm.
type Transfer struct {
	first uint64
	count uint32
	begun bool
	done  bool
	bytes []byte
}

// NewTransfer expects the answer to RingRead(first, count); count is at least 1.
func NewTransfer(first uint64, count uint32) *Transfer { return &Transfer{first: first, count: count} }

// Push takes a notification of the ring. done reports that the transfer is complete. An error ends
// the transfer, and nothing of it may be used.
func (t *Transfer) Push(item RingItem) (done bool, err error) {
	if t.done {
		return true, nil
	}
	switch i := item.(type) {
	case RingAck:
		if i.Status != RingOK {
			return false, malformed("transfer", "%s (%d)", i.Status, uint8(i.Status))
		}
	case RingBegin:
		switch {
		case t.begun:
			return false, malformed("transfer", "begins twice")
		case i.First != t.first || i.Count > t.count:
			return false, malformed("transfer", "of %d records from %d on, asked for %d from %d on", i.Count, i.First, t.count, t.first)
		}
		t.begun, t.count = true, i.Count
	case RingData:
		switch {
		case !t.begun:
			return false, malformed("transfer", "data before its beginning")
		case len(t.bytes)+len(i) > int(t.count)*RecordSize:
			return false, malformed("transfer", "more than %d records", t.count)
		}
		t.bytes = append(t.bytes, i...)
	case RingDone:
		whole := uint64(len(t.bytes) / RecordSize)
		switch {
		case i.Status != RingOK:
			return false, malformed("transfer", "%s (%d)", i.Status, uint8(i.Status))
		case !t.begun || len(t.bytes)%RecordSize != 0 || i.Next != t.first+whole:
			return false, malformed("transfer", "%d bytes came, which is not %d to %d", len(t.bytes), t.first, i.Next)
		case i.Sum != nil && crc32.ChecksumIEEE(t.bytes) != *i.Sum:
			return false, malformed("transfer", "%d bytes with another checksum than the device's", len(t.bytes))
		}
		t.done = true
	}
	return t.done, nil
}

// Bytes returns the bytes of the records, once the transfer is complete.
func (t *Transfer) Bytes() []byte { return t.bytes }
