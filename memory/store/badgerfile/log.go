package badgerfile

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"
)

// A log file of Badger v4 (its memtable.go, structs.go): the write-ahead log of
// a memory table (.mem) or a value log (.vlog).
//
//	8 bytes   number of the data key; 0: not encrypted
//	12 bytes  IV; for an entry, the last 4 bytes are its position in the file
//	entries
//
// and an entry:
//
//	1 byte   meta: logTxnEnd
//	1 byte   user meta
//	uvarint  length of the key, k
//	uvarint  length of the value, v
//	uvarint  when it expires
//	k+v      key and value, encrypted
//	4 bytes  CRC32C of all of the above, big-endian
//
// Zeros follow the last entry.
const (
	logHeader = 20
	logMaxKey = 1 << 16
	logTxnEnd = 1 << 7        // meta of the entry that ends a transaction
	logEndKey = "!badger!txn" // the prefix of that entry's key

	logDeleted = 1 << 0 // meta of a deletion
	logTxn     = 1 << 6 // meta of an entry within a transaction
)

// checkLog checks a log file. Badger allocates whatever length an entry claims,
// and truncates the file at the first invalid entry, so one altered entry would
// remove all later ones. A crash can only leave the last transaction
// incomplete. So the file is refused if more than one end of a transaction
// comes after an invalid entry, or if the invalid entry is itself the end of
// the last transaction.
func checkLog(path string, keys *badger.KeyRegistry) error {
	p, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("badger: %w", err)
	}
	if err := logSound(p, keys); err != nil {
		return &Damage{Kind: "log file", File: filepath.Base(path), What: err.Error()}
	}
	return nil
}

func logSound(p []byte, keys *badger.KeyRegistry) error {
	if len(p) < logHeader {
		return nil // a crash happened when it was made; Badger makes it again
	}
	key, err := keys.DataKey(binary.BigEndian.Uint64(p))
	if err != nil {
		return errors.New("names a key that is not there")
	}
	bad, ends := 0, 0
	for at := logHeader; ; {
		e, ok := nextLogEntry(p[at:])
		switch {
		case (!ok || !e.sound) && endAltered(p, at, key):
			return fmt.Errorf("its entry at byte %d was altered", at)
		case !ok && bad == 0:
			return fmt.Errorf("its entry at byte %d was altered", at)
		case !ok || e.size == 0:
			return nil
		case !e.sound:
			if bad == 0 {
				bad = at
			}
		case e.meta&logTxnEnd != 0 && bad != 0:
			if ends++; ends > 1 {
				return fmt.Errorf("its entry at byte %d was altered", bad)
			}
		case e.meta&logTxnEnd != 0:
			plain := e.key
			if key != nil {
				iv := make([]byte, aes.BlockSize)
				copy(iv, p[8:logHeader])
				binary.BigEndian.PutUint32(iv[12:], uint32(at))
				if plain, err = y.XORBlockAllocate(e.key, key.Data, iv); err != nil {
					return fmt.Errorf("can't be decrypted: %w", err)
				}
			}
			if !bytes.HasPrefix(plain, []byte(logEndKey)) {
				return errors.New("its first 20 bytes were altered")
			}
		}
		at += e.size
	}
}

type logEntry struct {
	size  int // 0: no entry left
	meta  byte
	key   []byte
	value []byte
	sound bool // its checksum is right
}

// nextLogEntry reads the entry at the beginning of p. ok is false if a length
// is out of range.
func nextLogEntry(p []byte) (e logEntry, ok bool) {
	if len(p) < 2 {
		return e, true
	}
	at := 2
	var v [3]uint64 // lengths of key and value, and the expiry
	for i := range v {
		n := 0
		if v[i], n = binary.Uvarint(p[at:]); n < 0 {
			return e, false
		} else if n == 0 {
			return e, true // the file ends here
		}
		at += n
	}
	if v[0] > logMaxKey || v[1] > uint64(len(p)) {
		return e, false
	}
	if v[0] == 0 {
		return e, true
	}
	end := at + int(v[0]+v[1])
	if end+crc32.Size > len(p) {
		return e, false
	}
	sum := crc32.Checksum(p[:end], y.CastagnoliCrcTable)
	return logEntry{
		size: end + crc32.Size, meta: p[0], key: p[at:][:v[0]], value: p[at+int(v[0]) : end],
		sound: sum == binary.BigEndian.Uint32(p[end:]),
	}, true
}

// wholeEnd returns the offset behind the last whole transaction of a log. It is never less
// than where Badger begins to write.
func wholeEnd(p []byte) (end int) {
	end = logHeader
	for at := logHeader; at < len(p); {
		e, ok := nextLogEntry(p[at:])
		if !ok || e.size == 0 || !e.sound {
			break
		}
		if at += e.size; e.meta&logTxn == 0 {
			end = at
		}
	}
	return end
}

// logUnder reports whether a log can be decrypted with a key.
func logUnder(p []byte, key *pb.DataKey) bool {
	at := firstEnd(p)
	return at >= 0 && endOpens(p, at, key)
}

// firstEnd returns the offset of the first end of a transaction with a right
// checksum, or -1.
func firstEnd(p []byte) int {
	for at := logHeader; at >= 0 && at < len(p); {
		e, ok := nextLogEntry(p[at:])
		switch {
		case !ok || e.size > 0 && !e.sound:
			at = resyncLog(p, at)
		case e.size == 0:
			return -1
		case e.meta&logTxnEnd != 0:
			return at
		default:
			at += e.size
		}
	}
	return -1
}

// endOpens reports whether the entry at an offset decrypts to the end of a
// transaction.
func endOpens(p []byte, at int, key *pb.DataKey) bool {
	e, _ := nextLogEntry(p[at:])
	plain, err := logPlain(p, at, &e, key)
	return err == nil && bytes.HasPrefix(plain, []byte(logEndKey))
}

// restoreIV returns a log that can be decrypted with key, and reports whether
// its IV was altered. If it was, restoreIV tries every change of one byte. If
// that does not help, it returns the log unchanged.
func restoreIV(p []byte, key *pb.DataKey) (log []byte, altered bool) {
	end := firstEnd(p)
	if end < 0 || endOpens(p, end, key) {
		return p, false
	}
	restored := bytes.Clone(p)
	for at := 8; at < logHeader; at++ {
		for range 255 {
			restored[at]++
			if endOpens(restored, end, key) {
				return restored, true
			}
		}
		restored[at]++
	}
	return p, true
}

// logPlain decrypts key and value of an entry at an offset.
func logPlain(p []byte, at int, e *logEntry, key *pb.DataKey) ([]byte, error) {
	iv := make([]byte, aes.BlockSize)
	copy(iv, p[8:logHeader])
	binary.BigEndian.PutUint32(iv[12:], uint32(at))
	plain, err := y.XORBlockAllocate(append(bytes.Clone(e.key), e.value...), key.Data, iv)
	if err != nil {
		return nil, fmt.Errorf("badger: log: %w", err)
	}
	return plain, nil
}

// endAltered reports whether the bytes at an offset were written as the end of
// a transaction and changed later: all fixed bytes of an end but one are there.
// The end of a transaction is written last, so its entries are complete. A
// crash would have left zeros instead.
func endAltered(p []byte, at int, key *pb.DataKey) bool {
	const header = 5 // its two lengths take one byte each
	if at+header+len(logEndKey) > len(p) || key == nil {
		return false
	}
	e := logEntry{key: p[at+header:][:len(logEndKey)]}
	plain, err := logPlain(p, at, &e, key)
	if err != nil {
		return false
	}
	same := 0
	for i := range plain {
		if plain[i] == logEndKey[i] {
			same++
		}
	}
	return same >= len(logEndKey)-1
}

// resyncLog returns the offset of the next entry with a right checksum after an
// invalid one, or -1.
func resyncLog(p []byte, at int) int {
	end := len(bytes.TrimRight(p, "\x00"))
	for at++; at < end; at++ {
		// Badger writes deletions, values and ends of transactions, each within
		// a transaction, under a key of one of the store's kinds or one of
		// Badger's own.
		if m := p[at] &^ (logTxnEnd | logTxn | logDeleted); m != 0 || p[at+1:][0] != 0 {
			continue
		}
		if e, ok := nextLogEntry(p[at:min(end+64, len(p))]); ok && e.size > 0 && e.sound && len(e.key) > stampSize {
			return at
		}
		if at+1 >= end {
			break
		}
	}
	return -1
}
