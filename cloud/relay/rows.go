package relay

import "github.com/locket-dev/locket/sync/envelope"

// Row is a row of a store in SQL, whatever its driver.
type Row interface{ Scan(columns ...any) error }

// ScanChain reads the columns incarnation and seq.
func ScanChain[R Row](r R) (envelope.Position, error) {
	var incarnation, seq int64
	err := r.Scan(&incarnation, &seq)
	return envelope.Position{Incarnation: uint64(incarnation), Seq: uint64(seq)}, err
}

// ScanPlace reads the columns member, incarnation, seq and hash.
func ScanPlace[R Row](r R) (p envelope.Place, err error) {
	var member, hash []byte
	var incarnation, seq int64
	err = r.Scan(&member, &incarnation, &seq, &hash)
	copy(p.Member[:], member)
	copy(p.Hash[:], hash)
	p.Incarnation, p.Seq = uint64(incarnation), uint64(seq)
	return p, err
}

// ScanRecord reads the columns id, about and record.
func ScanRecord[R Row](row R) (r Record, err error) {
	var id, about []byte
	err = row.Scan(&id, &about, &r.Bytes)
	copy(r.ID[:], id)
	copy(r.About[:], about)
	return r, err
}
