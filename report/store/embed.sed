# Lines of text -> lines of a C string literal.
s/\\/\\\\/g
s/"/\\"/g
s/^/"/
s/$/\\n"/
