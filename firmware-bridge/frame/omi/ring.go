package omi

import (
	"encoding/binary"
	"time"
)

// Commands to StorageChar (omi/firmware/omi/src/lib/core/storage.c, firmware
// from 3.0.20 on; BE). Those marked with a star need the custody contract
// (PENDANT_RING_CUSTODY.md; firmware from 3.0.21 on):
//
//	03                             stop a transfer
//	10                             info
//	11  u64 first [u32 count]      read records; without count, to the end
//	12 u64 read          move the read cursor: the records before it may be deleted
//	13                             clear the ring
//	15* u64 ring, u64 read         as 12, if the ring's id is ring
//
// and its notifications. A length is a minimum: newer firmware appends fields.
//
//	01  u8 status                                                    answer to 03, 12, 13, 15 and to errors
//	02  u64 read, u64 write, u32 capacity, u64 dropped, u16 size     info: 31 bytes with the first
//	    * u8 caps, u8 contract, u64 ring                             41 bytes
//	03  …                                                            bytes of records, in order, cut anywhere
//	04 u8 status, u64 next [u32 CRC-32 of all bytes after 03]    end of a transfer
//	05  u64 first, u32 count                                         beginning of a transfer
//	06* u64 ring, u64 seq, u16 index                                 live mark: the records before seq are written
//
// After 12 or 15 the records before the cursor are deleted: send these only once the records are
// stored elsewhere.

// RingStatus is the result of a command.
type RingStatus uint8

// The statuses.
const (
	RingOK       RingStatus = 0
	RingInvalid  RingStatus = 6
	RingNotReady RingStatus = 9
	RingRange    RingStatus = 10 // no such record
	RingOther    RingStatus = 11 // the ring has another id
)

// String is the status in words.
func (s RingStatus) String() string {
	switch s {
	case RingOK:
		return "ok"
	case RingInvalid:
		return "invalid command"
	case RingNotReady:
		return "storage not ready"
	case RingRange:
		return "no such record"
	case RingOther:
		return "the ring was made anew"
	}
	return "unknown status"
}

// Commands without arguments.
var (
	RingStop  = [1]byte{0x03}
	AskInfo   = [1]byte{0x10}
	RingClear = [1]byte{0x13}
)

// RingRead asks for count records from first on; 0: all.
func RingRead(first uint64, count uint32) []byte {
	b := binary.BigEndian.AppendUint64([]byte{0x11}, first)
	if count > 0 {
		b = binary.BigEndian.AppendUint32(b, count)
	}
	return b
}

// RingAdvance allows the device to delete all records before read.
func RingAdvance(read uint64) []byte { return binary.BigEndian.AppendUint64([]byte{0x12}, read) }

// RingAdvanceIn is RingAdvance for the ring with that id. A device whose ring has another id
// answers RingOther and keeps all records.
func RingAdvanceIn(ring, read uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{0x15}, ring), read)
}

// RingCaps are the capabilities of a device with the custody contract.
type RingCaps uint8

// CapRingID: the ring has an id, and RingAdvanceIn works. The other bits concern storing live
// sound, which the bridge does not ask for.
const CapRingID RingCaps = 8

// RingItem is one of RingAck, RingInfo, RingData, RingBegin, RingDone and RingMark.
type RingItem interface{ ringItem() }

type (
	// RingAck answers a command.
	RingAck struct{ Status RingStatus }
	// RingInfo is the state of the ring. Read is at most Write.
	RingInfo struct {
		Read, Write uint64
		Capacity    uint32 // records
		Dropped     uint64 // records that were overwritten before they were read
		Caps        RingCaps
		Ring        uint64 // id, not 0 if Caps has CapRingID; a cleared ring gets another one
	}
	// RingData is bytes of records; it aliases the notification.
	RingData []byte
	// RingBegin begins a transfer.
	RingBegin struct {
		First uint64
		Count uint32
	}
	// RingDone ends a transfer.
	RingDone struct {
		Status RingStatus
		Next   uint64  // the record after the last one that was sent
		Sum    *uint32 // CRC-32 (IEEE) of the transfer's bytes; nil: the firmware sends none
	}
	// RingMark says which records of live sound are stored.
	RingMark struct {
		Ring, Seq uint64
		Index     uint16 // first audio notification that is not in a record yet
	}
)

func (RingAck) ringItem()   {}
func (RingInfo) ringItem()  {}
func (RingData) ringItem()  {}
func (RingBegin) ringItem() {}
func (RingDone) ringItem()  {}
func (RingMark) ringItem()  {}

// ParseRing reads a notification of the ring.
func ParseRing(b []byte) (RingItem, error) {
	if len(b) == 0 {
		return nil, malformed("ring", "an empty notification")
	}
	least := map[byte]int{0x01: 2, 0x02: 31, 0x04: 10, 0x05: 13, 0x06: 19}
	if n := least[b[0]]; len(b) < n {
		return nil, malformed("ring", "notification %02x of %d bytes, want at least %d", b[0], len(b), n)
	}
	be := binary.BigEndian
	switch b[0] {
	case 0x01:
		return RingAck{RingStatus(b[1])}, nil
	case 0x02:
		i := RingInfo{Read: be.Uint64(b[1:]), Write: be.Uint64(b[9:]), Capacity: be.Uint32(b[17:]), Dropped: be.Uint64(b[21:])}
		if size := be.Uint16(b[29:]); size != RecordSize {
			return nil, malformed("ring", "records of %d bytes, want %d", size, RecordSize)
		}
		if i.Read > i.Write {
			return nil, malformed("ring", "read cursor %d is behind the write cursor %d", i.Read, i.Write)
		}
		if len(b) >= 41 {
			i.Caps, i.Ring = RingCaps(b[31]), be.Uint64(b[33:])
		}
		if i.Caps&CapRingID != 0 && i.Ring == 0 {
			return nil, malformed("ring", "its id is 0")
		}
		return i, nil
	case 0x03:
		if len(b) == 1 {
			return nil, malformed("ring", "data without bytes")
		}
		return RingData(b[1:]), nil
	case 0x04:
		d := RingDone{Status: RingStatus(b[1]), Next: be.Uint64(b[2:])}
		if len(b) >= 14 {
			sum := be.Uint32(b[10:])
			d.Sum = &sum
		}
		return d, nil
	case 0x05:
		return RingBegin{be.Uint64(b[1:]), be.Uint32(b[9:])}, nil
	case 0x06:
		return RingMark{be.Uint64(b[1:]), be.Uint64(b[9:]), be.Uint16(b[17:])}, nil
	}
	return nil, malformed("ring", "notification %02x is not known", b[0])
}

// A record (transport.c, write_to_storage):
//
//	0  u32 BE  seconds since 1970; 0: the device's clock was not set;
//	           bit 31 set: the other bits are seconds since the device started
//	4  440     u8 length, frame, length, frame, …; zero bytes between are skipped
//
// The firmware never writes a frame whose last byte is the last of the record. If there seems to be
// one, its bytes are left over from before, and it is dropped.
const (
	RecordSize  = 444
	recordTime  = 4
	recordAudio = RecordSize - recordTime
	sinceStart  = 1 << 31 // flag in a record's time
)

// Record is a piece of sound from the ring, commonly 100 ms.
type Record struct {
	At     time.Time     // to the second; zero: not known
	Uptime time.Duration // time since the device started, to the second, if At is zero; -1: not known
	Frames [][]byte      // they alias the record's bytes
}

// ParseRecord reads a record. A frame that would reach the record's end or go beyond it ends the
// reading.
func ParseRecord(b []byte) (Record, error) {
	if len(b) != RecordSize {
		return Record{}, malformed("record", "%d bytes, want %d", len(b), RecordSize)
	}
	r := Record{Uptime: -1}
	switch s := binary.BigEndian.Uint32(b); {
	case s&sinceStart != 0:
		r.Uptime = time.Duration(s&^sinceStart) * time.Second
	case s != 0:
		r.At = time.Unix(int64(s), 0).UTC()
	}
	r.Frames = cutFrames(b[recordTime:])
	return r, nil
}

func cutFrames(b []byte) (out [][]byte) {
	for at := 0; at < len(b); {
		n := int(b[at])
		at++
		if n == 0 {
			continue
		}
		if at+n >= len(b) {
			break
		}
		out = append(out, b[at:at+n:at+n])
		at += n
	}
	return out
}
