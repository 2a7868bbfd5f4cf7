#ifndef QUIRE_CEXPAT_H
#define QUIRE_CEXPAT_H

// The XML parser of the system (libexpat): streaming, with namespaces, without external entities.
#include <expat.h>

#endif
