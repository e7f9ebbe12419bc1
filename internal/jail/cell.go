package jail

// View is the part of the file system that a program may access. Missing files are left out.
type View struct {
	Read  []string // files, and folders with everything below them, to read and run
	Write []string // likewise, to read, run, write, create and remove
}

// Cell says from what a program is kept.
type Cell struct {
	Network bool // it can't create sockets of any family, or trace a process
	Files   bool // it can't open anything outside of its View. It can still find out by name that a file exists, and its size
}
