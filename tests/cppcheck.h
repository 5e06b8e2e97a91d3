// SPDX-License-Identifier: Apache-2.0
/* What cppcheck must know of jansson's loops: it does not read system headers. Never compiled. */
#define json_array_foreach(array, index, value)                                                    \
	for (index = 0; index < json_array_size(array) && (value = json_array_get(array, index));  \
	     index++)
#define json_object_foreach(object, key, value)                                                    \
	for (key = json_first_key(object); key && (value = json_object_get(object, key));          \
	     key = json_next_key(object, key))
#define json_object_foreach_safe(object, next, key, value)                                         \
	for (key = json_first_key(object); key && (value = json_object_get(object, key));          \
	     key = json_next_key(object, key))
