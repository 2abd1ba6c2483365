#include "foreign/redis_layout.h"
