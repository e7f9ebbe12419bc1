package jail

// View is what a program may reach of the file system. What is not there is left out.
type View struct {
	Read  []string // files, and folders with all that is below them: to be read and run
	Write []string // the same: to be read, run, written, made and removed
}

// Cell says what a program was kept from.
type Cell struct {
	Network bool // it can make no socket, whatever the family, and trace no process
	Files   bool // it can open nothing but its View. That a file is there, and its size, it can still learn by its name
}
